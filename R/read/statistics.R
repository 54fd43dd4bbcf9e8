# The tables of statistics, read back.

uses("base/csv", "base/errors")

PROGRAM_COLUMNS <- c(
  "protocol", "server", "server_version", "client", "client_version", "congestion_control", "connection"
)

#' Read a statistics table back.
read_statistics <- function(folder, name) {
  path <- file.path(folder, paste0(name, ".csv"))
  if (!file.exists(path)) fail(path, "no such file", "Run R/run_statistics.R first and give its --output here")
  # Columns of text that may look like numbers or be empty throughout.
  text <- c("cells", "session", "paper", "reason", "note", "winners", "levels", "missing", "against", "why", "where", PROGRAM_COLUMNS)
  read_csv_file(path, text)
}
