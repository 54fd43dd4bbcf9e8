# The transfer of one object of a page.

uses("base/tables", "read/loads")

#' The rows of a figure's object, of all finished loads.
object_rows <- function(figure, study, data, arms) {
  rows <- details_of_figure(figure, study, data, "objects", arms, first = FALSE)
  if ("path" %in% names(rows)) pick(rows, rows$path == figure$path) else pick(rows, 0L)
}

#' Medians of the times of an object, seconds since the start of the load.
#'
#' @return data.table: cell, arm, n, start, first, end
transfer_times <- function(rows) {
  if (nrow(rows) == 0L) {
    return(data.table::data.table(cell = factor(), arm = factor(), n = integer(), start = numeric(), first = numeric(), end = numeric()))
  }
  rows$first <- ifelse(is.na(rows$first_byte_s), rows$start_s, rows$first_byte_s)
  summarise_rows(rows, c("cell", "arm"), function(own) {
    list(n = nrow(own), start = stats::median(own$start_s), first = stats::median(own$first), end = stats::median(own$end_s))
  })
}
