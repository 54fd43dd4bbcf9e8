# The tables of single runs (docs/formats.md, section 6), which lie beside the table of runs: what `frames`, `handshake`, `series`, …
# hold of the cells of a figure.

uses("base/csv", "base/errors", "base/tables")

DETAIL_TEXT <- c("study", "cell", "arm", "direction", "event", "label", "path", "protocol", "source")

#' Read one of the tables beside the tables of runs.
#'
#' @param paths CSV files of runs: `CELL.csv` or `STUDY.csv`, beside which the folder without `.csv` holds the blocks
#' @param name of the table: `objects`, `series`, `transport`, `window`, `frames` or `handshake`
#' @return data.table; without rows where there are no such tables, as with somebody else's table of runs
read_details <- function(paths, name, study) {
  folders <- sub("[.]csv$", "", paths)
  found <- unlist(lapply(folders[dir.exists(folders)], function(folder) {
    list.files(folder, pattern = paste0("^", name, "[.]csv$"), recursive = TRUE, full.names = TRUE)
  }))
  parts <- lapply(sort(unique(as.character(found))), function(path) {
    missing <- setdiff(DETAIL_KEYS, csv_header(path))
    if (length(missing) > 0L) fail(path, sprintf("has no column '%s'", missing[1]), "Make it anew from the run folders")
    read_csv_file(path, DETAIL_TEXT)
  })
  table <- data.table::rbindlist(c(list(no_details()), parts), use.names = TRUE, fill = TRUE)
  pick(table, table$study == study$study)
}

DETAIL_KEYS <- c("study", "cell", "arm", "block", "repetition")

no_details <- function() {
  data.table::data.table(study = character(), cell = character(), arm = character(), block = integer(), repetition = integer())
}
