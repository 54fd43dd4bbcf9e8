# Medians with bootstrap intervals (Efron and Tibshirani, An Introduction to the Bootstrap, 1993).

#' Median and its interval.
#'
#' @param sessions session of each value, to resample within
#' @return c(median, low, high); the interval is NA below two values
median_interval <- function(values, confidence, resamples, seed, sessions = rep("", length(values))) {
  if (length(values) < 2L) {
    return(c(censored_median(values), NA_real_, NA_real_))
  }
  replicates <- replicate_statistic(values, "median", resamples, seed, sessions)
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
#'   timeout, invalid, left_out (valid, but too many others were not), sessions, median, low, high, mean (loads that did
#'   not finish enter with their timeout, the least they took; NA where that is not known), mean_is_bound (some did), cv
#'   (standard deviation / mean of finished loads), min, max (of finished loads), repetitions_needed (for the study's
#'   precision, or PRECISION; see `repetitions_needed`); in the metric's unit; `Inf` (0 where higher is better): did not finish
summarise_runs <- function(runs, study) {
  groups <- split(seq_len(nrow(runs)), row_key(runs, c("cell", "arm")))
  rows <- data.table::rbindlist(lapply(groups, function(rows) summarise_group(runs[rows, ], study)))
  design <- pick(study$design, match(rows$cell, study$design$cell))
  position <- order(match(rows$cell, study$design$cell), match(rows$arm, study$arm_table$arm))
  pick(cbind(design, rows[, -"cell"]), position)
}

#' Summary of the rows of one cell and arm.
summarise_group <- function(rows, study) {
  comparison <- study$comparison
  valid <- pick(rows, !is.na(rows$value))
  finished <- finished_runs(valid)$value
  count <- function(status) sum(rows$status == status)
  seed <- derive_seed(study$seed, rows$cell[1], rows$arm[1], "median")
  middle <- median_interval(valid$value, comparison$confidence, comparison$resamples, seed, valid$session_of)
  of_some <- function(values, statistic, least = 1L) if (length(values) < least) NA_real_ else statistic(values)
  list(
    cell = rows$cell[1], arm = rows$arm[1],
    n = nrow(valid), finished = length(finished), failed = count("failed"), timeout = count("timeout"), invalid = count("invalid"),
    left_out = sum(is_left_out(rows) & rows$status != "invalid"),
    sessions = length(unique(valid$session_of)), median = middle[1], low = middle[2], high = middle[3],
    mean = of_some(valid$bound, mean), mean_is_bound = length(finished) < nrow(valid),
    cv = of_some(finished, function(values) stats::sd(values) / mean(values), 2L),
    min = of_some(finished, min), max = of_some(finished, max),
    repetitions_needed = repetitions_needed(valid$value, asked_precision(study)$relative, comparison$confidence)
  )
}
