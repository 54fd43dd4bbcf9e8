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
    ratio <- mean_ratio(index, study, here$cell, a, b, derive_seed(study$seed, a, b, "overall"))
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
#' @return list(value, interval, cells: that have a ratio, certain: had chance no part in any of these?)
mean_ratio <- function(index, study, cells, a, b, seed, statistic = "median") {
  samples <- lapply(cells, function(cell) {
    matched_samples(sample_at(index, cell, a), sample_at(index, cell, b), study$comparison$design)
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
  deciding <- min(vapply(samples, function(one) as.numeric(one$deciding), 0))
  value <- exp(mean(values[finite]))
  seeds <- vapply(cells[finite], function(cell) derive_seed(seed, cell), 0L)
  interval <- mean_ratio_interval(samples, value, deciding, statistic, study$comparison, seeds)
  list(value = value, interval = interval, cells = sum(finite), certain = is.infinite(deciding))
}

#' Its interval; the spreads of all cells together are known from two loads each.
#'
#' @param deciding loads in the cell with fewest, as from `deciding_loads`
mean_ratio_interval <- function(samples, value, deciding, statistic, comparison, seeds) {
  if (is.infinite(deciding)) {
    return(c(value, value))
  }
  confidence <- comparison$confidence
  interval_of_loads(
    deciding, confidence, exp(student_mean_ratio(samples, confidence)),
    percentile_interval(replicate_mean_ratio(samples, statistic, comparison$resamples, seeds), confidence), 2L
  )
}

#' Student's interval of the mean of the logarithms of the cells' ratios.
student_mean_ratio <- function(samples, confidence) {
  logs <- lapply(samples, log_groups)
  groups <- unlist(lapply(logs, `[[`, "groups"), recursive = FALSE)
  student_interval(groups, unlist(lapply(logs, `[[`, "weights")) / length(samples), confidence)
}

#' Bootstrap replicates of the geometric mean of the cells' ratios.
replicate_mean_ratio <- function(samples, statistic, resamples, seeds) {
  logs <- mapply(function(one, seed) log(replicate_ratio(one, statistic, resamples, seed)), samples, seeds)
  logs[!is.finite(logs)] <- NA
  exp(rowMeans(logs, na.rm = TRUE))
}

#' p-value that two arms do not differ in any cell; NA below two matched repetitions.
pooled_test <- function(index, cells, a, b) {
  differences <- unlist(lapply(cells, function(cell) {
    samples <- matched_samples(sample_at(index, cell, a), sample_at(index, cell, b), "paired")
    censored_difference(log(samples$a), log(samples$b))
  }))
  if (length(differences) < 2L) NA_real_ else signed_rank_p(differences)
}
