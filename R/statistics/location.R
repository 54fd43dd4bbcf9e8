# Location: do two arms differ, and by how much? Tests, shifts and their intervals belong together: the interval of a
# shift holds the values that the test does not refuse.

uses("base/tolerance", "read/censoring", "statistics/resampling")

# Above this the exact distribution gains nothing over its limit and costs much.
LARGEST_EXACT <- 200L

#' Two-sided p-value that a and b do not differ.
#'
#' Paired: Wilcoxon's signed-rank test over the repetitions, with Pratt's treatment of zeros. Otherwise Wilcoxon's and
#' Mann and Whitney's rank-sum test within the strata. Both are permutation tests, exact up to LARGEST_EXACT loads: by R's
#' own distributions where there are no ties and by `coin` where there are. A load that did not finish takes the worst rank.
#'
#' @param samples as from `matched_samples`
#' @return p, NA where nothing can be tested
location_test <- function(samples) {
  if (length(samples$a) == 0L || length(samples$b) == 0L) {
    return(NA_real_)
  }
  if (samples$paired) {
    return(signed_rank_p(censored_difference(samples$a, samples$b)))
  }
  rank_sum_p(samples$a, samples$b, samples$strata)
}

#' Wilcoxon signed-rank p-value of differences, `Inf` being the largest.
signed_rank_p <- function(difference) {
  difference <- unname(rank_infinite(difference))
  if (all(difference == 0)) {
    return(1)
  }
  n <- length(difference)
  if (n <= LARGEST_EXACT && !anyDuplicated(abs(difference)) && all(difference != 0)) {
    return(stats::wilcox.test(difference, exact = TRUE)$p.value)
  }
  data <- data.frame(difference = difference, zero = 0)
  as.numeric(coin::pvalue(coin::wilcoxsign_test(
    difference ~ zero,
    data = data, distribution = exact_or_limit(n), zero.method = "Pratt"
  )))
}

#' Rank-sum p-value; ranks are taken, and labels permuted, within the strata.
rank_sum_p <- function(a, b, strata) {
  values <- unname(rank_infinite(c(a, b)))
  stratum <- c(strata$a, strata$b)
  arm <- rep(c("a", "b"), c(length(a), length(b)))
  if (length(values) <= LARGEST_EXACT && !anyDuplicated(data.frame(values, stratum))) {
    return(untied_rank_sum_p(values[arm == "a"], values[arm == "b"], strata))
  }
  data <- data.frame(score = stats::ave(values, stratum, FUN = rank), arm = factor(arm), stratum = factor(stratum))
  # Strata that have one arm only, or one value only, say nothing.
  several <- function(x) stats::ave(as.integer(factor(x)), stratum, FUN = function(x) length(unique(x))) > 1L
  data <- droplevels(data[several(arm) & several(values), ])
  if (nrow(data) == 0L) {
    return(1)
  }
  model <- if (nlevels(data$stratum) > 1L) score ~ arm | stratum else score ~ arm
  as.numeric(coin::pvalue(coin::oneway_test(model, data = data, distribution = exact_or_limit(length(values)))))
}

#' Exact p-value without ties: Mann and Whitney's U, summed over the strata.
untied_rank_sum_p <- function(a, b, strata) {
  u <- sum(outer(a, b, ">") & outer(strata$a, strata$b, "=="))
  density <- rank_sum_density(strata)
  both <- c(sum(density[seq_len(u + 1L)]), sum(density[seq(u + 1L, length(density))]))
  min(1, 2 * min(both))
}

#' Distribution of U, summed over the strata, if the arms do not differ.
#'
#' @return P(U = 0), P(U = 1), …
rank_sum_density <- function(strata) {
  sizes <- shared_sizes(strata)
  density <- 1
  for (i in seq_along(sizes$m)) {
    one <- stats::dwilcox(0:(sizes$m[i] * sizes$n[i]), sizes$m[i], sizes$n[i])
    # Convolution by Fourier transform leaves errors of either sign in the last digit.
    density <- if (i == 1L) one else pmax(0, stats::convolve(density, rev(one), type = "open"))
  }
  density
}

#' Numbers of loads of both arms in the strata that have both.
shared_sizes <- function(strata) {
  names <- intersect(strata$a, strata$b)
  list(m = as.numeric(table(factor(strata$a, names))), n = as.numeric(table(factor(strata$b, names))))
}

exact_or_limit <- function(n) if (n <= LARGEST_EXACT) "exact" else "asymptotic"

#' Hodges and Lehmann's estimate of the shift a - b with its interval (Ann. Math. Stat. 34, 1963).
#'
#' Paired: median of the Walsh averages of the differences; otherwise median of all differences within the strata. The
#' interval is the inverted test (Hollander, Wolfe and Chicken, Nonparametric Statistical Methods, 3.4 and 4.3): it lies
#' between two order statistics, so it exists with infinite values too. With ties it is wider than it had to be.
#'
#' @param samples as from `matched_samples`
#' @return c(shift, low, high) in the unit of the values; the shift is NA if it is not finite; the interval is NA where
#'   so few values cannot give that confidence
shift_interval <- function(samples, confidence) {
  shifts <- all_shifts(samples)
  if (length(shifts) == 0L) {
    return(c(NA_real_, NA_real_, NA_real_))
  }
  shifts <- sort(shifts)
  middle <- row_middles(matrix(shifts, 1L))
  tail <- (1 - confidence) / 2
  rank <- if (samples$paired) signed_rank_bound(length(samples$a), tail) else rank_sum_bound(samples$strata, tail)
  ends <- if (rank < 1) c(NA_real_, NA_real_) else shifts[c(rank, length(shifts) + 1 - rank)]
  c(if (is.finite(middle)) middle else NA_real_, ends)
}

#' All Walsh averages, or all differences within the strata.
all_shifts <- function(samples) {
  a <- unname(samples$a)
  b <- unname(samples$b)
  if (!samples$paired) {
    within <- outer(samples$strata$a, samples$strata$b, "==")
    return(outer(a, b, censored_difference)[within])
  }
  difference <- censored_difference(a, b)
  sums <- outer(difference, difference, "+") / 2
  shifts <- sums[upper.tri(sums, diag = TRUE)]
  # One load of each arm that did not finish: neither is known to be the faster.
  shifts[is.nan(shifts)] <- 0
  shifts
}

#' Number of the order statistic at which an interval of Walsh averages begins; 0: there is none.
signed_rank_bound <- function(n, tail) {
  if (n <= 2L * LARGEST_EXACT) {
    return(stats::qsignrank(tail, n))
  }
  limit_bound(n * (n + 1) / 4, n * (n + 1) * (2 * n + 1) / 24, tail)
}

#' The same for differences of two samples within strata.
rank_sum_bound <- function(strata, tail) {
  sizes <- shared_sizes(strata)
  m <- sizes$m
  n <- sizes$n
  if (sum(m, n) > LARGEST_EXACT) {
    return(limit_bound(sum(m * n) / 2, sum(m * n * (m + n + 1) / 12), tail))
  }
  # The largest c with P(U <= c - 1) <= tail.
  sum(cumsum(rank_sum_density(strata)) <= tail * (1 + RELATIVE_TOLERANCE))
}

#' Bound from the normal limit with correction for continuity.
limit_bound <- function(mean, variance, tail) max(0, floor(mean + 0.5 + stats::qnorm(tail) * sqrt(variance)))
