# Comparisons of two arms within a cell.

#' Outcomes of two arms as the design compares them.
#'
#' @return list(a, b, paired): for a paired design only the repetitions that both have
matched_outcomes <- function(a, b, design) {
  if (design != "paired") {
    return(list(a = a, b = b, paired = FALSE))
  }
  shared <- intersect(names(a), names(b))
  list(a = a[shared], b = b[shared], paired = TRUE)
}

#' Difference a - b in which two loads that did not finish are equal.
censored_difference <- function(a, b) {
  difference <- a - b
  difference[is.infinite(a) & is.infinite(b)] <- 0
  difference
}

#' Ratio in which two statistics beyond the timeout have no ratio.
censored_ratio <- function(a, b) ifelse(is.infinite(a) & is.infinite(b), NA_real_, a / b)

#' Bootstrap replicates of the ratio of a statistic of two samples.
#'
#' @param statistic `mean` or `median`
#' @param paired resample repetitions (both arms together) instead of each arm by itself
replicate_ratio <- function(a, b, statistic, resamples, seed, paired) {
  if (length(a) == 0L || length(b) == 0L) {
    return(rep(NA_real_, resamples))
  }
  draws <- draw_samples(list(a, b), paired, resamples, seed)
  of_rows <- row_statistic(statistic)
  censored_ratio(of_rows(drawn_values(a, draws[[1]])), of_rows(drawn_values(b, draws[[2]])))
}

#' Hodges-Lehmann estimate of the shift a - b (Hodges and Lehmann, Ann. Math. Stat. 34, 1963).
#'
#' Paired: median of the Walsh averages of the differences; otherwise median of all differences.
#'
#' @return shift in the unit of the values; NA if it is not finite
hodges_lehmann <- function(a, b, paired) {
  if (length(a) == 0L || length(b) == 0L) {
    return(NA_real_)
  }
  if (paired) {
    difference <- censored_difference(a, b)
    sums <- outer(difference, difference, "+") / 2
    shifts <- sums[upper.tri(sums, diag = TRUE)]
    shifts[is.nan(shifts)] <- 0
  } else {
    shifts <- as.vector(outer(a, b, censored_difference))
  }
  shift <- censored_median(shifts)
  if (is.finite(shift)) shift else NA_real_
}

#' Cliff's delta: P(a > b) - P(a < b), in [-1, 1]; negative: a is lower (Cliff, Psychol. Bull. 114, 1993).
cliffs_delta <- function(a, b) {
  if (length(a) == 0L || length(b) == 0L) {
    return(NA_real_)
  }
  mean(outer(a, b, function(x, y) (x > y) - (x < y)))
}

#' Two-sided p-value that a and b do not differ.
#'
#' Paired: exact Wilcoxon signed-rank test with Pratt's treatment of zeros; otherwise exact
#' Mann-Whitney. A load that did not finish takes the highest rank. Both are by `coin`.
#'
#' @return p, NA where nothing can be tested
location_test <- function(a, b, paired) {
  if (length(a) == 0L || length(b) == 0L) {
    return(NA_real_)
  }
  if (paired) {
    return(signed_rank_p(censored_difference(a, b)))
  }
  values <- c(a, b)
  largest <- max(c(values[is.finite(values)], 0))
  values[is.infinite(values)] <- 2 * largest + 1
  if (length(unique(values)) == 1L) {
    return(1)
  }
  arm <- factor(rep(c("a", "b"), c(length(a), length(b))))
  as.numeric(coin::pvalue(coin::wilcox_test(values ~ arm, distribution = "exact")))
}

#' Wilcoxon signed-rank p-value of differences, `Inf` being the largest.
#'
#' @param distribution `exact` or `asymptotic`, as in `coin`
signed_rank_p <- function(difference, distribution = "exact") {
  finite <- abs(difference[is.finite(difference)])
  difference[is.infinite(difference)] <- sign(difference[is.infinite(difference)]) * (2 * max(c(finite, 0)) + 1)
  if (all(difference == 0)) {
    return(1)
  }
  data <- data.frame(difference = unname(difference), zero = 0)
  as.numeric(coin::pvalue(coin::wilcoxsign_test(
    difference ~ zero,
    data = data, distribution = distribution, zero.method = "Pratt"
  )))
}

#' Comparison of two arms in one cell as one row.
compare_arms <- function(study, index, cell, a, b, intervals) {
  comparison <- study$comparison
  all_a <- outcomes_at(index, cell, a)
  all_b <- outcomes_at(index, cell, b)
  matched <- matched_outcomes(all_a, all_b, comparison$design)
  seed <- derive_seed(study$seed, cell, a, b, "ratio")
  replicates <- if (intervals && length(matched$a) > 1L && length(matched$b) > 1L) {
    replicate_ratio(matched$a, matched$b, "median", comparison$resamples, seed, matched$paired)
  }
  interval <- percentile_interval(replicates, comparison$confidence)
  medians <- c(censored_median(matched$a), censored_median(matched$b))
  rule <- comparison$rule
  share_a <- beat_share(all_a, all_b, rule$margin, rule$comparisons)
  share_b <- beat_share(all_b, all_a, rule$margin, rule$comparisons)
  list(
    n_a = length(all_a), n_b = length(all_b), n_pairs = if (matched$paired) length(matched$a) else NA_integer_,
    median_a = medians[1], median_b = medians[2], ratio = censored_ratio(medians[1], medians[2]),
    low = interval[1], high = interval[2],
    shift = hodges_lehmann(matched$a, matched$b, matched$paired), delta = cliffs_delta(all_a, all_b),
    p = location_test(matched$a, matched$b, matched$paired),
    comparisons = count_comparisons(all_a, all_b, rule$comparisons), share_a = share_a, share_b = share_b,
    rule = if (is.na(share_a)) NOT_MEASURED else if (wins(share_a, rule)) a else if (wins(share_b, rule)) b else TIE
  )
}

#' Comparison of every pair in every cell of the design.
#'
#' @param intervals compute the bootstrap intervals too (figures do without)
#' @return data.table, one row per cell and pair: the factors, a, b, state (`measured`, `not measured`,
#'   `not applicable`), n_a, n_b, n_pairs, median_a, median_b, ratio (of medians, a / b) with interval low and
#'   high, difference_percent (100 (ratio - 1); negative: a is faster), shift (Hodges-Lehmann, unit of the metric), delta
#'   (Cliff), p, p_holm (Holm over all rows), significant, comparisons, share_a, share_b, rule (the arm that
#'   beats the other by the rule, `tie` or `not measured`)
compare_pairs <- function(index, study, intervals = TRUE) {
  pairs <- study$comparison$pair_table
  rows <- lapply(seq_len(nrow(pairs)), function(i) {
    a <- pairs$a[i]
    b <- pairs$b[i]
    compared <- lapply(study$design$cell, function(cell) compare_arms(study, index, cell, a, b, intervals))
    cbind(study$design, a = a, b = b, data.table::rbindlist(compared))
  })
  table <- data.table::rbindlist(rows)
  if (nrow(table) == 0L) fail("comparison.pairs", "is empty", "Name at least one pair of arms in the study file")
  table$state <- pair_state(table, study$excluded)
  table$difference_percent <- 100 * (table$ratio - 1)
  table$p_holm <- stats::p.adjust(table$p, "holm")
  table$significant <- !is.na(table$p_holm) & table$p_holm <= 1 - study$comparison$confidence
  table
}

#' Why a pair has, or has no, result in its cell.
pair_state <- function(table, excluded) {
  out <- outcome_key(excluded$cell, excluded$arm)
  left_out <- outcome_key(table$cell, table$a) %in% out | outcome_key(table$cell, table$b) %in% out
  measured <- table$n_a > 0L & table$n_b > 0L
  ifelse(measured, "measured", ifelse(left_out, "not applicable", NOT_MEASURED))
}
