# By which clock loads were measured (docs/virtual-time.md).

#' Which rows of a table of runs are loads in virtual time; none where the table does not say.
is_virtual <- function(runs) if ("clock" %in% names(runs)) runs$clock %in% "virtual" else rep(FALSE, nrow(runs))

#' By which clock loads were measured, in words; "" where all were by the real one.
#'
#' @param virtual,loads how many loads are in virtual time, and how many there are
clock_text <- function(virtual, loads) {
  if (virtual == 0L) {
    return("")
  }
  if (virtual == loads) {
    return("In virtual time: of the processor's work only what is counted takes time.")
  }
  sprintf("%d of %d loads are in virtual time, where of the processor's work only what is counted takes time.", virtual, loads)
}
