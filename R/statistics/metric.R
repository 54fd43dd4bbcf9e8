# Statistics of any column of the table of runs, not only of the study's metric.

uses("base/errors", "base/tables", "read/runs")

#' The study and its runs with a metric; NULL: as they are.
#'
#' @param where figure or claim that names it, for messages
#' @return list(study, runs)
with_metric <- function(metric, study, runs, where) {
  if (is.null(metric)) {
    return(list(study = study, runs = runs))
  }
  study$comparison$metric <- utils::modifyList(list(better = "lower"), metric)
  column <- metric$column
  absent <- !column %in% names(runs)
  if (nrow(runs) > 0L && absent && !column %in% unlist(study$client_metrics)) {
    fail(where, sprintf("the table of runs has no column '%s'", column), "Name a column of docs/formats.md, section 6")
  }
  # Of the arms that were chosen no client reports it.
  if (absent) runs <- pick(runs, 0L)
  if (nrow(runs) == 0L) runs[[column]] <- numeric()
  list(study = study, runs = add_outcome(runs, study))
}
