# Comparisons that a figure makes itself: of another metric than the study's, or of other pairs.

uses(
  "base/tables", "read/runs", "read/selection", "statistics/comparisons", "statistics/medians", "figures/definition"
)

#' Does a heatmap show other comparisons than the study's?
compares_itself <- function(figure, study) {
  pairs <- figure_pairs(figure, study)
  known <- study$comparison$pair_table
  !is.null(figure$metric) || !all(outcome_key(pairs$a, pairs$b) %in% outcome_key(known$a, known$b))
}

#' Comparisons of a figure's pairs in its cells, with p-values that are corrected over these alone.
#'
#' @return as from `compare_pairs`, without intervals
own_comparisons <- function(figure, study, runs) {
  chosen <- metric_of_figure(figure, study, runs)
  cells <- select_cells(study, figure$cells, figure_place(figure))$cell
  own <- chosen$study
  own$comparison$pair_table <- figure_pairs(figure, study)
  own$design <- pick(own$design, own$design$cell %in% cells)
  compare_pairs(outcome_index(chosen$runs), own, intervals = FALSE)
}
