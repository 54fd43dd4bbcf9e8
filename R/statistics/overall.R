# One answer per pair over all cells.

uses(
  "base/tables", "read/censoring", "read/states", "statistics/adjust", "statistics/comparisons",
  "statistics/effects", "statistics/enough", "statistics/location", "statistics/resampling"
)

#' Summary of each pair over the cells measured.
#'
#' Few repetitions cannot show a difference in one cell after the correction for many; taken together
#' they can. The test is the signed-rank test over all matched repetitions of all cells on the
#' logarithm of the ratio; its null hypothesis is that the arms do not differ in any cell.
#'
#' @param index outcomes
#' @param study resolved study
#' @param comparisons as from `compare_pairs`
#' @return data.table, one row per pair: a, b, cells (measured), a_wins, b_wins, ties (by the rule), ratio
#'   (geometric mean of the ratios of medians) with low and high, p, p_adjusted (over the pairs)
summarise_pairs <- function(index, study, comparisons) {
  pairs <- study$comparison$pair_table
  rows <- lapply(seq_len(nrow(pairs)), function(i) {
    a <- pairs$a[i]
    b <- pairs$b[i]
    here <- pick(comparisons, comparisons$a == a & comparisons$b == b & comparisons$state == "measured")
    ratio <- mean_ratio(index, study, here$cell, c(a, b), derive_seed(study$seed, a, b, "overall"))
    list(
      a = a, b = b, cells = nrow(here), a_wins = sum(here$rule == a), b_wins = sum(here$rule == b),
      ties = sum(here$rule == TIE), ratio = ratio$value, low = ratio$interval[1], high = ratio$interval[2],
      p = pooled_test(index, here$cell, a, b)
    )
  })
  table <- data.table::rbindlist(rows)
  table$p_adjusted <- adjust_p(table$p, study$comparison$adjust)
  table
}

#' Geometric mean over cells of the ratio of medians, with its interval.
#'
#' The interval is the mean of the cells' own, of the logarithms: few loads of an arm with two modes miss its median to the same
#' side in every cell, and what does not average out must not be taken for spread that does.
#'
#' @return list(value, interval, cells: that have a ratio, certain: had chance no part in any of these?)
mean_ratio <- function(index, study, cells, arms, seed, statistic = "median") {
  samples <- lapply(cells, function(cell) {
    matched_samples(sample_at(index, cell, arms[1]), sample_at(index, cell, arms[2]), study$comparison$design)
  })
  values <- vapply(samples, function(one) {
    log(censored_ratio(statistic_of(statistic, one$a), statistic_of(statistic, one$b)))
  }, 0)
  # A cell in which an arm's median lies beyond the timeout has no ratio and is counted by the rule alone.
  finite <- is.finite(values)
  if (!any(finite)) {
    return(list(value = NA_real_, interval = NO_INTERVAL, cells = 0L, certain = FALSE))
  }
  samples <- samples[finite]
  value <- exp(mean(values[finite]))
  certain <- all(vapply(samples, function(one) is.infinite(one$deciding), TRUE))
  intervals <- vapply(seq_along(samples), function(i) {
    log(ratio_interval(samples[[i]], statistic, study$comparison, derive_seed(seed, cells[finite][i])))
  }, c(0, 0))
  interval <- if (certain) c(value, value) else exp(rowMeans(intervals))
  list(value = value, interval = interval, cells = sum(finite), certain = certain)
}

#' p-value that two arms do not differ in any cell; NA below two matched repetitions.
pooled_test <- function(index, cells, a, b) {
  differences <- unlist(lapply(cells, function(cell) {
    samples <- matched_samples(sample_at(index, cell, a), sample_at(index, cell, b), "paired")
    censored_difference(log(samples$a), log(samples$b))
  }))
  if (length(differences) < 2L) NA_real_ else signed_rank_p(differences)
}
