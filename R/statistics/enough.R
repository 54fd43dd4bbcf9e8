# How many loads an interval needs, and which interval so many allow.
#
# The percentile bootstrap draws from the loads that there are: of few of them it is too narrow (two pairs cover the ratio of
# medians in half of all cases, three in three quarters). Student's interval is wide enough for few, and misses the median
# of many whose distribution has two modes. So few loads have the hull of both. `snakemake results/error-rates/STUDY` shows
# what it covers.

# Of two loads no interval holds what it promises if the loads have two modes, as those with loss do.
SMALLEST_SPREAD <- 3L
NO_INTERVAL <- c(NA_real_, NA_real_)

#' Highest confidence that an interval between the smallest and the largest of n values has for the median.
#'
#' No bootstrap interval of the median can be wider than its values, so this bounds what small n can give:
#' 1 - 2^(1 - n), from the sign test.
attainable_confidence <- function(n) 1 - 2^(1 - n)

#' Smallest number of loads of which a bootstrap interval can have that confidence.
loads_needed <- function(confidence) as.integer(ceiling(1 - log2(1 - confidence) - 1e-9))

#' Number of loads that decides which interval there is: that of the samples that chance had a part in.
#'
#' @param samples list of samples as from `sample_at`
#' @return smallest number of loads; Inf where all samples are certain; 0 where one is empty
deciding_loads <- function(samples) {
  counts <- vapply(samples, function(sample) length(sample$values), 0L)
  certain <- vapply(samples, function(sample) sample$certain, TRUE)
  if (any(counts == 0L)) 0 else min(c(Inf, counts[!certain]))
}

#' Student's interval of a weighted sum of means, with Welch's and Satterthwaite's degrees of freedom (Biometrics 2, 1946).
#'
#' @param groups list of vectors, of logarithms for ratios
#' @param weights one per group
#' @return c(low, high); NA where a value is not finite, or where no group has a spread: equal values of few loads say nothing of it
student_interval <- function(groups, weights, confidence) {
  if (!all(is.finite(unlist(groups)))) {
    return(NO_INTERVAL)
  }
  middle <- sum(weights * vapply(groups, mean, 0))
  several <- lengths(groups) > 1L
  parts <- weights[several]^2 * vapply(groups[several], function(values) stats::var(values) / length(values), 0)
  if (sum(parts) == 0) {
    return(NO_INTERVAL)
  }
  freedom <- sum(parts)^2 / sum(parts^2 / (lengths(groups[several]) - 1))
  middle + c(-1, 1) * stats::qt((1 + confidence) / 2, freedom) * sqrt(sum(parts))
}

#' The interval that so many loads allow.
#'
#' @param deciding as from `deciding_loads`
#' @param student,bootstrap intervals, each evaluated only where it is asked for
#' @param least loads below which there is none
#' @return the bootstrap's from twice `loads_needed` on, below that the hull of both; where a load did not finish Student's
#'   does not exist, and below `loads_needed` none does
interval_of_loads <- function(deciding, confidence, student, bootstrap, least = SMALLEST_SPREAD) {
  needed <- loads_needed(confidence)
  if (deciding < least) {
    return(NO_INTERVAL)
  }
  if (deciding >= 2L * needed) {
    return(bootstrap)
  }
  if (anyNA(student)) {
    return(if (deciding < needed) NO_INTERVAL else bootstrap)
  }
  if (anyNA(bootstrap)) student else range(c(student, bootstrap))
}
