# CSV files as the stages write them (RFC 4180).

#' Read a table.
#'
#' `data.table::fread` leaves the doubled quotes inside quoted fields as they are; here they are one again.
#'
#' @param path a CSV file with a header; empty fields are NA
#' @param text names of columns that are text, though they may look like numbers or be empty throughout; others than the
#'   file's are passed over
#' @param ... further arguments of `data.table::fread`
#' @return data.table
read_csv_file <- function(path, text, ...) {
  text <- intersect(text, csv_header(path))
  table <- data.table::fread(path, na.strings = "", colClasses = list(character = text), ...)
  for (name in names(table)[vapply(table, is.character, TRUE)]) {
    data.table::set(table, j = name, value = gsub('""', '"', table[[name]], fixed = TRUE))
  }
  table
}

#' Names of the columns of a CSV file.
csv_header <- function(path) names(data.table::fread(path, nrows = 0L))
