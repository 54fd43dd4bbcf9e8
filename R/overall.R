# One answer per pair over all cells.

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

#' Geometric mean over cells of the ratio of medians, with its bootstrap interval.
mean_ratio <- function(index, study, cells, a, b, seed, statistic = "median") {
  comparison <- study$comparison
  logs <- matrix(numeric(), comparison$resamples, 0L)
  smallest <- Inf
  values <- numeric()
  for (cell in cells) {
    samples <- matched_samples(sample_at(index, cell, a), sample_at(index, cell, b), comparison$design)
    smallest <- min(smallest, length(samples$a), length(samples$b))
    values <- c(values, log(censored_ratio(statistic_of(statistic, samples$a), statistic_of(statistic, samples$b))))
    logs <- cbind(logs, log(replicate_ratio(samples, statistic, comparison$resamples, derive_seed(seed, cell))))
  }
  finite <- is.finite(values)
  if (!any(finite)) {
    return(list(value = NA_real_, interval = c(NA_real_, NA_real_), cells = 0L))
  }
  # A cell in which an arm's median lies beyond the timeout has no ratio and is counted by the rule alone.
  if (smallest < 2L) {
    # One load says nothing of its spread, and a cell without spread would make the interval too narrow.
    return(list(value = exp(mean(values[finite])), interval = c(NA_real_, NA_real_), cells = sum(finite)))
  }
  logs <- logs[, finite, drop = FALSE]
  logs[!is.finite(logs)] <- NA
  list(
    value = exp(mean(values[finite])),
    interval = percentile_interval(exp(rowMeans(logs, na.rm = TRUE)), comparison$confidence),
    cells = sum(finite)
  )
}

#' p-value that two arms do not differ in any cell; NA below two matched repetitions.
pooled_test <- function(index, cells, a, b) {
  differences <- unlist(lapply(cells, function(cell) {
    samples <- matched_samples(sample_at(index, cell, a), sample_at(index, cell, b), "paired")
    censored_difference(log(samples$a), log(samples$b))
  }))
  if (length(differences) < 2L) NA_real_ else signed_rank_p(differences)
}
