# Loads that did not finish. They are no numbers but bounds: such a load is worse than every load that finished.

#' The outcome of a load that did not finish: `Inf` where lower is better, 0 where higher is.
worst_outcome <- function(metric) if (metric$better == "higher") 0 else Inf

#' Which outcomes are of loads that did not finish? Reading refuses a finished load of 0.
is_unfinished <- function(values) is.infinite(values) | (!is.na(values) & values == 0)

#' What is known of a load that did not finish: it took at least its timeout, or came to no rate at all.
#'
#' @return NA where the metric is no time of the load, or the timeout is not known
bound_of_unfinished <- function(runs, study) {
  metric <- study$comparison$metric
  if (metric$better == "higher") {
    return(rep(0, nrow(runs)))
  }
  if (metric$unit != "s") {
    return(rep(NA_real_, nrow(runs)))
  }
  limit <- if ("timeout_s" %in% names(runs)) as.numeric(runs$timeout_s) else rep(NA_real_, nrow(runs))
  ifelse(is.na(limit), as.numeric(study$timeout_s %||% NA), limit)
}

#' Outcomes as costs, of which the lower is the better: themselves, or their reciprocals.
as_costs <- function(values, metric) if (metric$better == "higher") 1 / values else values

# Decimal fractions are not exact in binary: 31.1 - 30.9 and 0.9 - 0.7 differ in the last digit, and would not be a tie.
DIFFERENCE_DIGITS <- 10L

#' Difference a - b in which two loads that did not finish are equal, rounded so that equal differences are ties.
censored_difference <- function(a, b) {
  difference <- a - b
  difference[is.infinite(a) & a == b] <- 0
  values <- abs(c(a, b))
  largest <- max(c(values[is.finite(values)], 0))
  if (largest > 0) round(difference, DIFFERENCE_DIGITS - ceiling(log10(largest))) else difference
}

#' Ratio in which two statistics of loads that did not finish have no ratio.
censored_ratio <- function(a, b) ifelse(is_unfinished(a) & is_unfinished(b), NA_real_, a / b)

#' `Inf` as a number beyond all others, for ranks.
rank_infinite <- function(values) {
  beyond <- 2 * max(c(abs(values[is.finite(values)]), 0)) + 1
  ifelse(is.infinite(values), sign(values) * beyond, values)
}
