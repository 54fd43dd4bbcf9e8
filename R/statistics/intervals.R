# Medians with their intervals: order statistics (David and Nagaraja, Order Statistics, 7.1), or wider for few loads.

uses(
  "base/tables", "read/runs", "read/selection", "statistics/enough", "statistics/failures", "statistics/precision",
  "statistics/resampling"
)

#' Median and its interval.
#'
#' Between the k-th values from both ends the median of any distribution lies with a probability that the binomial one gives.
#' Few values allow none such; theirs is the hull of all values and of Student's interval of the logarithms.
#'
#' @param certain chance had no part in the values: they are all there is
#' @return c(median, low, high); the interval is NA below SMALLEST_SPREAD values
median_interval <- function(values, confidence, certain = FALSE) {
  sorted <- sort(unname(values))
  n <- length(sorted)
  interval <- if (n == 0L || (n < SMALLEST_SPREAD && !certain)) {
    NO_INTERVAL
  } else if (certain) {
    range(sorted)
  } else if (n < loads_needed(confidence)) {
    student <- exp(student_interval(list(log(sorted)), 1, confidence))
    if (anyNA(student)) student else range(c(student, sorted))
  } else {
    rank <- stats::qbinom((1 - confidence) / 2, n, 0.5)
    sorted[c(rank, n + 1L - rank)]
  }
  c(censored_median(sorted), interval)
}

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
  middle <- median_interval(valid$value, comparison$confidence, all(valid$certain))
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
