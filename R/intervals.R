# Medians with bootstrap intervals (Efron and Tibshirani, An Introduction to the Bootstrap, 1993).

#' Median and its interval.
#'
#' @return c(median, low, high); the interval is NA below two values
median_interval <- function(values, confidence, resamples, seed) {
  if (length(values) < 2L) {
    return(c(censored_median(values), NA_real_, NA_real_))
  }
  replicates <- replicate_statistic(values, "median", resamples, seed)
  c(censored_median(values), percentile_interval(replicates, confidence))
}

#' Highest confidence that an interval between the smallest and the largest of n values has for the median.
#'
#' No bootstrap interval of the median can be wider than its values, so this bounds what small n can give:
#' 1 - 2^(1 - n), from the sign test.
attainable_confidence <- function(n) 1 - 2^(1 - n)

#' Summary of every cell and arm.
#'
#' @param runs as from `read_runs`
#' @param study resolved study
#' @return data.table, one row per cell and arm that has rows: the factors, n (valid loads), finished, failed,
#'   timeout, invalid, median, low, high, mean (of finished loads), cv (standard deviation / mean of
#'   finished loads), min, max; times in the metric's unit; `Inf` = beyond the timeout
summarise_runs <- function(runs, study) {
  comparison <- study$comparison
  one <- function(cell, arm, value, status) {
    valid <- value[!is.na(value)]
    finished <- valid[is.finite(valid)]
    seed <- derive_seed(study$seed, cell, arm, "median")
    middle <- median_interval(valid, comparison$confidence, comparison$resamples, seed)
    some <- length(finished) > 0L
    list(
      n = length(valid), finished = length(finished), failed = sum(status == "failed"),
      timeout = sum(status == "timeout"), invalid = sum(status == "invalid"),
      median = middle[1], low = middle[2], high = middle[3],
      mean = if (some) mean(finished) else NA_real_,
      cv = if (length(finished) > 1L) stats::sd(finished) / mean(finished) else NA_real_,
      min = if (some) min(finished) else NA_real_, max = if (some) max(finished) else NA_real_
    )
  }
  groups <- split(seq_len(nrow(runs)), row_key(runs, c("cell", "arm")))
  rows <- data.table::rbindlist(lapply(groups, function(rows) {
    cell <- runs$cell[rows[1]]
    arm <- runs$arm[rows[1]]
    c(list(cell = cell, arm = arm), one(cell, arm, runs$value[rows], runs$status[rows]))
  }))
  design <- pick(study$design, match(rows$cell, study$design$cell))
  position <- order(match(rows$cell, study$design$cell), match(rows$arm, study$arm_table$arm))
  pick(cbind(design, rows[, -"cell"]), position)
}
