# How many repetitions a stated precision takes, computed from a pilot.

uses("base/tolerance", "read/censoring", "read/runs", "statistics/enough", "statistics/resampling")

# What is asked for where a study does not say: the median within 5 %, in at most 50 repetitions.
PRECISION <- list(relative = 0.05, at_most = 50L)
# The spread of fewer loads is no basis for a plan.
SMALLEST_PILOT <- 3L
MOST_REPETITIONS <- 9999L

#' The precision that a study asks for, or PRECISION.
#'
#' @return list(relative: half width of the median's interval / median, at_most: repetitions)
asked_precision <- function(study) utils::modifyList(PRECISION, as.list(study$precision))

#' Repetitions after which the interval of the median is expected to be within ± `relative` of it.
#'
#' The median of N loads is the quantile of their distribution at a level that is distributed as Beta((N + 1)/2, (N + 1)/2)
#' (David and Nagaraja, Order Statistics, 2.1; exact for odd N). The pilot gives the quantiles: those of Weibull, which
#' are the widest of the usual ones, so that a small pilot errs towards more. Distributions with two modes and loads that
#' did not finish are taken as they are.
#'
#' @param values outcomes of the pilot
#' @param relative 0.05 for ± 5 %
#' @return whole number, at least the smallest N of which an interval of that confidence exists; NA below
#'   SMALLEST_PILOT values or if half of them did not finish; Inf above MOST_REPETITIONS
repetitions_needed <- function(values, relative, confidence) {
  if (length(values) < SMALLEST_PILOT || is_unfinished(censored_median(values))) {
    return(NA_real_)
  }
  least <- loads_needed(confidence)
  enough <- function(n) median_half_width(values, n, confidence) <= relative * (1 + RELATIVE_TOLERANCE)
  if (!enough(MOST_REPETITIONS)) {
    return(Inf)
  }
  # The half width falls with N, so halving finds the first N that is enough.
  low <- least - 1
  high <- MOST_REPETITIONS
  while (high - low > 1) {
    middle <- (low + high) %/% 2
    if (enough(middle)) high <- middle else low <- middle
  }
  high
}

#' Expected half width of the interval of the median of n loads, relative to the median.
median_half_width <- function(values, n, confidence) {
  tail <- (1 - confidence) / 2
  level <- stats::qbeta(c(tail, 0.5, 1 - tail), (n + 1) / 2, (n + 1) / 2)
  ends <- weibull_quantile(values, level)
  max(ends[3] - ends[2], ends[2] - ends[1]) / ends[2]
}

#' Quantiles by linear interpolation between the k-th values at k / (n + 1) (R's type 6), with infinite values.
weibull_quantile <- function(values, level) {
  sorted <- sort(unname(values))
  n <- length(sorted)
  position <- pmin(pmax(level * (n + 1), 1), n)
  below <- floor(position)
  share <- position - below
  ifelse(share == 0, sorted[below], (1 - share) * sorted[below] + share * sorted[pmin(below + 1, n)])
}

#' Repetitions that every cell of the plan should have.
#'
#' An arm of which no load finished, or of which half did not, has no median to be precise about and asks for nothing.
#'
#' @param precision as from `asked_precision`
#' @return data.table, one row per planned cell: cell, measured (largest number of valid loads of an arm), arm (that needs
#'   most), needed (by it; NA where the pilot is too small), repetitions (to have in all, at most `at_most`), more, reached
plan_precision <- function(index, study, precision = asked_precision(study)) {
  arms <- study$arm_table$arm
  rows <- lapply(study$planned, function(cell) {
    samples <- lapply(arms, outcomes_at, index = index, cell = cell)
    excluded <- arms %in% study$excluded$arm[study$excluded$cell == cell]
    wanted <- vapply(samples, wanted_repetitions, 0, precision = precision, confidence = study$comparison$confidence)
    wanted[excluded | cell %in% study$exact] <- 0
    measured <- max(0L, lengths(samples))
    first <- which.max(wanted)
    needed <- wanted[first]
    list(
      cell = cell, measured = measured, arm = if (needed > 0) arms[first] else NA_character_, needed = needed,
      repetitions = as.integer(max(measured, min(needed, precision$at_most)))
    )
  })
  table <- data.table::rbindlist(rows)
  table$more <- table$repetitions - table$measured
  table$reached <- table$needed <= table$measured
  table
}

#' What one arm asks for; 0: nothing, since it has no median.
wanted_repetitions <- function(values, precision, confidence) {
  if (length(values) < SMALLEST_PILOT) {
    return(SMALLEST_PILOT)
  }
  needed <- repetitions_needed(values, precision$relative, confidence)
  if (is.na(needed)) 0 else needed
}

#' The plan in words, one line per cell and a sum.
precision_lines <- function(table, study, precision) {
  why <- ifelse(
    is.na(table$arm), "no arm has a median to be precise about",
    ifelse(table$needed > precision$at_most, sprintf("%s needs %s, above the bound", table$arm, needed_text(table$needed)), table$arm)
  )
  state <- ifelse(table$more > 0L, sprintf("%d more", table$more), "no more")
  percent <- 100 * precision$relative
  c(
    sprintf("%s: %d measured, %d to have, %s (%s)", table$cell, table$measured, table$repetitions, state, why),
    sprintf(
      "%d of %d cells are within %g %% at %g %%; %d repetitions more in all", sum(table$reached), nrow(table), percent,
      100 * study$comparison$confidence, sum(table$more)
    )
  )
}

needed_text <- function(needed) ifelse(is.infinite(needed), sprintf("more than %d", MOST_REPETITIONS), format(needed, trim = TRUE))
