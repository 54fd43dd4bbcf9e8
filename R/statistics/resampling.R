# Bootstrap resampling. All resamples of a sample are drawn at once by `boot`; statistics are then taken
# of all of them together, row by row, which is what makes thousands of intervals a matter of seconds.

uses("read/blocking", "read/censoring")

#' A seed that depends on the study's seed and on the names of what is estimated, and on nothing else.
#'
#' So an interval does not change when other cells are added to a table.
#'
#' @return integer in [0, 2^31 - 1)
derive_seed <- function(...) {
  state <- 17
  for (code in utf8ToInt(paste(..., sep = "/"))) state <- (state * 65599 + code) %% 2147483647
  as.integer(state)
}

#' Evaluate an expression with a seeded generator and leave the caller's generator as it was.
with_seed <- function(seed, expression) {
  before <- get0(".Random.seed", envir = globalenv(), inherits = FALSE)
  on.exit(if (is.null(before)) {
    suppressWarnings(rm(".Random.seed", envir = globalenv()))
  } else {
    assign(".Random.seed", before, envir = globalenv())
  })
  set.seed(seed, kind = "Mersenne-Twister", normal.kind = "Inversion", sample.kind = "Rejection")
  force(expression)
}

#' Bootstrap draws from n values.
#'
#' @param strata each value is replaced by one of its own stratum; as from `resampling_strata`
#' @return integer matrix, one row per resample, n columns: numbers of the values drawn
draw_rows <- function(n, resamples, seed, strata = rep(1L, n)) {
  # boot hands every resample's indices to its statistic; here the indices are the statistic.
  with_seed(seed, boot::boot(seq_len(n), function(data, rows) rows, R = resamples, strata = strata)$t)
}

#' How often each value was drawn.
#'
#' @param draws as from `draw_rows`
#' @return matrix of counts of the same shape
draw_counts <- function(draws) {
  n <- ncol(draws)
  cell <- (draws - 1L) * nrow(draws) + as.vector(row(draws))
  matrix(tabulate(cell, nrow(draws) * n), nrow(draws), n)
}

#' Values drawn, one row per resample.
drawn_values <- function(values, draws) matrix(values[draws], nrow(draws), ncol(draws))

#' The two middle values of each row, equal for an odd number.
middle_values <- function(values) {
  n <- ncol(values)
  sorted <- matrix(values[order(row(values), values)], n, nrow(values))
  list(lower = sorted[(n + 1L) %/% 2L, ], upper = sorted[n %/% 2L + 1L, ])
}

#' Median of each row of any numbers.
row_middles <- function(values) {
  middle <- middle_values(values)
  # Half below all and half above all numbers: no number is between them.
  ifelse(is.infinite(middle$lower) & middle$lower == -middle$upper, 0, (middle$lower + middle$upper) / 2)
}

#' Median outcome of each row; a load that did not finish (`Inf`, or 0 where higher is better) is no number to halve.
row_medians <- function(values) {
  middle <- middle_values(values)
  ifelse(middle$lower == 0, 0, (middle$lower + middle$upper) / 2)
}

#' Median outcome.
#'
#' @return NA for no values; `Inf` (0 where higher is better) if half or more did not finish
censored_median <- function(values) {
  if (length(values) == 0L) NA_real_ else row_medians(matrix(values, 1L))
}

#' A statistic by name, of each row of a matrix.
row_statistic <- function(name) list(mean = rowMeans, median = row_medians)[[name]]

#' A statistic by name, of a vector.
statistic_of <- function(name, values) {
  if (length(values) == 0L) NA_real_ else row_statistic(name)(matrix(values, 1L))
}

#' Bootstrap replicates of a statistic of one sample.
#'
#' @param statistic `mean` or `median`
#' @param sessions session of each value
#' @return numeric vector of `resamples` replicates
replicate_statistic <- function(values, statistic, resamples, seed, sessions = rep("", length(values))) {
  if (length(values) == 0L) {
    return(rep(NA_real_, resamples))
  }
  row_statistic(statistic)(drawn_values(values, draw_rows(length(values), resamples, seed, strata_of(values, sessions))))
}

#' Strata to resample some values within: none where a load did not finish. Failures of one session would come up as often in
#' every resample, and half of them would make a point of the interval.
strata_of <- function(values, sessions) {
  if (any(is_unfinished(values))) rep(1L, length(values)) else resampling_strata(sessions)
}

#' Bootstrap draws for several samples.
#'
#' @param outcomes list of vectors named by repetition
#' @param paired draw repetitions, the same for all samples, which then must have the same repetitions
#' @param sessions list of the sessions of their values; NULL: one session
#' @return list of draws as from `draw_rows`, one per sample
draw_samples <- function(outcomes, paired, resamples, seed, sessions = NULL) {
  if (is.null(sessions)) sessions <- lapply(outcomes, function(values) rep("", length(values)))
  if (paired) {
    draws <- draw_rows(length(outcomes[[1]]), resamples, seed, strata_of(unlist(outcomes), sessions[[1]])[seq_along(outcomes[[1]])])
    return(rep(list(draws), length(outcomes)))
  }
  lapply(seq_along(outcomes), function(i) {
    draw_rows(length(outcomes[[i]]), resamples, derive_seed(seed, i), strata_of(outcomes[[i]], sessions[[i]]))
  })
}

#' Percentile interval of replicates; works with `Inf`, which the usual interpolation does not.
#'
#' @return c(low, high)
percentile_interval <- function(replicates, confidence) {
  replicates <- replicates[!is.na(replicates)]
  if (length(replicates) == 0L) {
    return(c(NA_real_, NA_real_))
  }
  tail <- (1 - confidence) / 2
  unname(stats::quantile(replicates, c(tail, 1 - tail), type = 1L))
}
