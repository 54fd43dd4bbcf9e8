# Statistics of any column of the table of runs, not only of the study's metric.

uses("base/errors", "read/runs")

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
  if (nrow(runs) > 0L && !column %in% names(runs)) {
    fail(where, sprintf("the table of runs has no column '%s'", column), "Name a column of docs/formats.md, section 6")
  }
  if (nrow(runs) == 0L) runs[[column]] <- numeric()
  list(study = study, runs = add_outcome(runs, study))
}
