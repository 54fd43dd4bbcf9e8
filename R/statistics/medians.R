# Medians that figures show, of any column of the table of runs.

uses("base/tables", "read/runs", "statistics/intervals", "statistics/metric", "figures/definition")

#' The study and its runs with another metric, if the figure names one.
#'
#' @return list(study, runs)
metric_of_figure <- function(figure, study, runs) {
  with_metric(figure$metric, study, runs, figure_place(figure))
}

#' Median and interval of every cell and arm of a figure.
#'
#' @param open keep medians of loads that did not finish, which are infinite
#' @return data.table: the factors, arm, n, unfinished, median, low, high; without those that have no median
medians_of_figure <- function(figure, study, runs, cells, arms, open = FALSE) {
  index <- outcome_index(runs)
  comparison <- study$comparison
  grid <- data.table::CJ(cell = cells, arm = arms, sorted = FALSE)
  rows <- lapply(seq_len(nrow(grid)), function(i) {
    cell <- grid$cell[i]
    arm <- grid$arm[i]
    values <- outcomes_at(index, cell, arm)
    found <- median_interval(values, comparison$confidence, is_certain(index, cell, arm))
    list(arm = arm, n = length(values), unfinished = sum(is.infinite(values)), median = found[1], low = found[2], high = found[3])
  })
  design <- pick(study$design, match(grid$cell, study$design$cell))
  table <- cbind(design, data.table::rbindlist(rows))
  pick(table, if (open) !is.na(table$median) else is.finite(table$median))
}
