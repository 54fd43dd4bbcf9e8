#' Rows of a table.
#'
#' `table[condition, ]` of a data.table looks names up in its columns first: a variable called as a column
#' would silently be that column. Here the condition is the caller's.
#'
#' @param rows logical (NA is no) or row numbers (NA gives a row of NA)
pick <- function(table, rows) {
  force(rows)
  if (is.logical(rows)) rows <- which(rows)
  table[rows, ]
}
