# Files in and out: JSON and CSV.

uses("base/errors")

#' Read a JSON file into nested lists.
read_json_file <- function(path) {
  if (!file.exists(path)) fail(path, "no such file", "Give the path of a file that the stage before wrote")
  tryCatch(
    jsonlite::fromJSON(path, simplifyVector = FALSE),
    error = function(problem) fail(path, "is not valid JSON", "Make it anew by the stage that writes it")
  )
}

#' Write nested lists as JSON.
write_json_file <- function(data, path) {
  dir.create(dirname(path), recursive = TRUE, showWarnings = FALSE)
  writeLines(jsonlite::toJSON(data, auto_unbox = TRUE, pretty = TRUE, digits = NA), path)
}

#' Write a table as CSV; numbers with 12 significant digits, so that machines agree on the text.
write_table <- function(table, folder, name) {
  dir.create(folder, recursive = TRUE, showWarnings = FALSE)
  path <- file.path(folder, paste0(name, ".csv"))
  table <- data.table::copy(data.table::as.data.table(table))
  for (column in names(table)[vapply(table, is.double, logical(1))]) {
    data.table::set(table, j = column, value = signif(table[[column]], 12L))
  }
  data.table::fwrite(table, path)
  path
}
