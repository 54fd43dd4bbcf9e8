# Sizes of differences: ratios of medians and Cliff's delta, with bootstrap intervals.

uses("read/censoring", "statistics/enough", "statistics/resampling")

#' Interval of the ratio of a statistic of two samples.
#'
#' @param samples as from `matched_samples`
#' @param statistic `mean` or `median`
#' @return c(low, high); NA below SMALLEST_SPREAD loads
ratio_interval <- function(samples, statistic, comparison, seed) {
  if (is.infinite(samples$deciding)) {
    return(c(censored_ratio(min(samples$a), max(samples$b)), censored_ratio(max(samples$a), min(samples$b))))
  }
  confidence <- comparison$confidence
  logs <- log_groups(samples)
  interval_of_loads(
    samples$deciding, confidence, exp(student_interval(logs$groups, logs$weights, confidence)),
    percentile_interval(replicate_ratio(samples, statistic, comparison$resamples, seed), confidence)
  )
}

#' The logarithm of a ratio as a weighted sum of means: of the pairs' ratios, or of both samples.
log_groups <- function(samples) {
  if (samples$paired) {
    return(list(groups = list(log(unname(samples$a)) - log(unname(samples$b))), weights = 1))
  }
  list(groups = list(log(unname(samples$a)), log(unname(samples$b))), weights = c(1, -1))
}

#' Bootstrap interval of Cliff's delta; of few loads there is none.
delta_interval <- function(samples, comparison, seed) {
  if (is.infinite(samples$deciding)) {
    return(rep(cliffs_delta(samples$a, samples$b), 2L))
  }
  if (samples$deciding < loads_needed(comparison$confidence)) {
    return(NO_INTERVAL)
  }
  percentile_interval(replicate_delta(samples, comparison$resamples, seed), comparison$confidence)
}

#' Bootstrap replicates of the ratio of a statistic of two samples.
#'
#' @param samples as from `matched_samples`; pairs are drawn as pairs
#' @param statistic `mean` or `median`
replicate_ratio <- function(samples, statistic, resamples, seed) {
  if (length(samples$a) == 0L || length(samples$b) == 0L) {
    return(rep(NA_real_, resamples))
  }
  draws <- sample_draws(samples, resamples, seed)
  of_rows <- row_statistic(statistic)
  censored_ratio(of_rows(drawn_values(samples$a, draws[[1]])), of_rows(drawn_values(samples$b, draws[[2]])))
}

#' Draws for both samples of a comparison.
sample_draws <- function(samples, resamples, seed) {
  draw_samples(list(samples$a, samples$b), samples$paired, resamples, seed, samples$sessions)
}

#' Cliff's delta: P(a > b) - P(a < b), in [-1, 1] (Cliff, Psychol. Bull. 114, 1993).
cliffs_delta <- function(a, b) {
  if (length(a) == 0L || length(b) == 0L) {
    return(NA_real_)
  }
  mean(dominance(a, b))
}

#' 1 where a > b, -1 where a < b, 0 where they are equal.
dominance <- function(a, b) outer(unname(a), unname(b), function(x, y) (x > y) - (x < y))

#' Bootstrap replicates of Cliff's delta.
replicate_delta <- function(samples, resamples, seed) {
  draws <- sample_draws(samples, resamples, seed)
  weighted <- draw_counts(draws[[1]]) %*% dominance(samples$a, samples$b)
  rowSums(weighted * draw_counts(draws[[2]])) / (length(samples$a) * length(samples$b))
}
