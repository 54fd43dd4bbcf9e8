# Rank correlation of two columns of the table of runs, for figures and claims.

uses("base/tables", "read/blocking", "read/censoring", "statistics/enough", "statistics/resampling")

#' Spearman's rank correlation; NA for fewer than three pairs or where one side is constant.
rank_correlation <- function(x, y) {
  if (length(x) < 3L || length(unique(x)) < 2L || length(unique(y)) < 2L) {
    return(NA_real_)
  }
  stats::cor(rank(x), rank(y))
}

#' Loads of one arm in one cell that finished and have the column.
#'
#' @return list(x, y, sessions, without: finished loads in which the column is empty)
paired_columns <- function(runs, cell, arm, column) {
  rows <- pick(runs, runs$cell == cell & runs$arm == arm & !is.na(runs$value) & !is_unfinished(runs$value))
  x <- if (column %in% names(rows)) as.numeric(rows[[column]]) else rep(NA_real_, nrow(rows))
  known <- !is.na(x)
  list(x = x[known], y = rows$value[known], sessions = rows$session_of[known], without = sum(!known))
}

#' Spearman's correlation with its bootstrap interval; loads are drawn with both of their values, within sessions.
#'
#' @param loads as from `paired_columns`
#' @return list(value, interval, n)
correlation_interval <- function(loads, comparison, seed) {
  n <- length(loads$x)
  value <- rank_correlation(loads$x, loads$y)
  if (is.na(value) || n < loads_needed(comparison$confidence)) {
    return(list(value = value, interval = NO_INTERVAL, n = n))
  }
  draws <- draw_rows(n, comparison$resamples, seed, resampling_strata(loads$sessions))
  # A draw of one load again and again has no correlation and says nothing.
  replicates <- apply(draws, 1L, function(drawn) rank_correlation(loads$x[drawn], loads$y[drawn]))
  list(value = value, interval = percentile_interval(replicates, comparison$confidence), n = n)
}

#' The correlation of one arm in one cell as figures show it: its draws are the same whoever asks.
arm_correlation <- function(loads, study, cell, arm, column) {
  correlation_interval(loads, study$comparison, derive_seed(study$seed, cell, arm, column, "correlation"))
}

#' Slope and intercept of the line of least squares; NA where x is constant.
least_squares <- function(x, y) {
  if (length(unique(x)) < 2L) {
    return(c(slope = NA_real_, intercept = NA_real_))
  }
  slope <- stats::cov(x, y) / stats::var(x)
  c(slope = slope, intercept = mean(y) - slope * mean(x))
}
