# Comparisons of two arms within a cell.

uses(
  "base/errors", "base/tolerance", "read/blocking", "read/censoring", "read/runs", "read/states",
  "statistics/adjust", "statistics/effects", "statistics/enough", "statistics/location", "statistics/resampling",
  "statistics/rule"
)

# Within 5 % two medians count as alike (Yu and Benson, Dissecting Performance of Production QUIC, 2021).
ALIKE_PERCENT <- 5
ALIKE <- "alike"

#' The loads of two arms as the design compares them.
#'
#' @param a,b lists(values, sessions, blocks, certain), named by pair, as from `sample_at`
#' @return list(a, b, paired, sessions, strata, deciding): for a paired design only the repetitions that both have; `sessions`:
#'   of both, to resample within; `strata`: list(level, a, b) to compare within, where not paired; `deciding`: as from
#'   `deciding_loads`
matched_samples <- function(a, b, design) {
  if (design == "paired") {
    shared <- intersect(names(a$values), names(b$values))
    # What is of no session on one side is of one stratum on both.
    apart <- any(nzchar(a$sessions)) && any(nzchar(b$sessions))
    sessions <- if (apart) paste(a$sessions[shared], b$sessions[shared]) else rep("", length(shared))
    both <- lapply(list(a, b), function(sample) list(values = sample$values[shared], certain = sample$certain))
    return(list(
      a = both[[1]]$values, b = both[[2]]$values, paired = TRUE, sessions = list(sessions, sessions), deciding = deciding_loads(both)
    ))
  }
  sessions <- list(a$sessions, b$sessions)
  list(
    a = a$values, b = b$values, paired = FALSE, sessions = sessions,
    strata = comparable_strata(list(a$blocks, b$blocks), sessions), deciding = deciding_loads(list(a, b))
  )
}

#' The loads of one arm in one cell with their blocking factors.
sample_at <- function(index, cell, arm) {
  list(
    values = outcomes_at(index, cell, arm), sessions = strata_at(index, cell, arm, "session"),
    blocks = strata_at(index, cell, arm, "block"), certain = is_certain(index, cell, arm)
  )
}

#' Everything that two samples say of the difference between their arms, whatever the arms are called.
#'
#' @param a,b as from `sample_at`
#' @param seed of the bootstrap
#' @param intervals compute the bootstrap intervals too
#' @return list of the columns n_a … p of `compare_pairs`
compare_samples <- function(a, b, comparison, seed, intervals = TRUE) {
  samples <- matched_samples(a, b, comparison$design)
  certain <- is.infinite(samples$deciding)
  ratio <- if (intervals) ratio_interval(samples, "median", comparison, seed) else NO_INTERVAL
  delta <- if (intervals) delta_interval(samples, comparison, seed) else NO_INTERVAL
  shift <- shift_interval(samples, comparison$confidence)
  medians <- c(censored_median(samples$a), censored_median(samples$b))
  list(
    n_a = length(a$values), n_b = length(b$values), n_pairs = if (samples$paired) length(samples$a) else NA_integer_,
    unfinished_a = sum(is_unfinished(a$values)), unfinished_b = sum(is_unfinished(b$values)),
    median_a = medians[1], median_b = medians[2], ratio = censored_ratio(medians[1], medians[2]),
    low = ratio[1], high = ratio[2],
    shift = shift[1], shift_low = shift[2], shift_high = shift[3],
    delta = cliffs_delta(samples$a, samples$b), delta_low = delta[1], delta_high = delta[2],
    certain = certain, test = if (certain) "none: nothing is left to chance" else test_name(samples),
    p = if (certain) NA_real_ else location_test(samples), p_sessions = session_test(samples)
  )
}

test_name <- function(samples) {
  if (samples$paired) {
    return("signed-rank, paired by repetition")
  }
  within <- c(block = ", within blocks", session = ", within sessions", none = "")
  paste0("rank-sum", within[[samples$strata$level]])
}

#' p-value that the ratio of paired loads is the same in all sessions (Kruskal and Wallis); NA for one session.
session_test <- function(samples) {
  if (!samples$paired || length(unique(samples$sessions[[1]])) < 2L) {
    return(NA_real_)
  }
  kruskal_p(censored_difference(log(samples$a), log(samples$b)), samples$sessions[[1]])
}

#' Kruskal-Wallis p-value by `coin`; 1 where all values are equal.
kruskal_p <- function(values, groups) {
  values <- unname(rank_infinite(values))
  if (length(unique(values)) < 2L) {
    return(1)
  }
  data <- data.frame(value = values, group = factor(groups))
  as.numeric(coin::pvalue(coin::kruskal_test(value ~ group, data = data)))
}

#' Comparison of two arms in one cell as one row.
compare_arms <- function(study, index, cell, a, b, intervals) {
  comparison <- study$comparison
  metric <- comparison$metric
  samples <- lapply(c(a, b), sample_at, index = index, cell = cell)
  numbers <- compare_samples(samples[[1]], samples[[2]], comparison, derive_seed(study$seed, cell, a, b, "ratio"), intervals)
  costs <- lapply(samples, function(sample) as_costs(sample$values, metric))
  rule <- comparison$rule
  share <- function(x, y) beat_share(x, y, rule$cost_margin, rule$comparisons)
  shares <- c(share(costs[[1]], costs[[2]]), share(costs[[2]], costs[[1]]))
  c(numbers, list(
    comparisons = count_comparisons(costs[[1]], costs[[2]], rule$comparisons), share_a = shares[1], share_b = shares[2],
    rule = if (is.na(shares[1])) NOT_MEASURED else if (wins(shares[1], rule)) a else if (wins(shares[2], rule)) b else TIE,
    median_rule = median_rule(as_costs(numbers$median_a, metric), as_costs(numbers$median_b, metric), a, b)
  ))
}

#' Who is ahead by more than ALIKE_PERCENT of the second's median?
#'
#' @param a,b medians as costs
median_rule <- function(a, b, name_a, name_b) {
  if (is.na(a) || is.na(b)) {
    return(NOT_MEASURED)
  }
  difference <- if (is.infinite(b)) ifelse(is.infinite(a), 0, -100) else 100 * (a / b - 1)
  if (abs(difference) <= ALIKE_PERCENT * (1 + RELATIVE_TOLERANCE)) ALIKE else if (difference < 0) name_a else name_b
}

#' Comparison of every pair in every cell of the design.
#'
#' @param intervals compute the bootstrap intervals too (figures do without)
#' @return data.table, one row per cell and pair: the factors, a, b, state (`measured`, `not measured`,
#'   `not applicable`), n_a, n_b, n_pairs, unfinished_a, unfinished_b, median_a, median_b, ratio (of medians, a / b) with
#'   interval low and high, difference_percent (100 (ratio - 1)), shift (Hodges-Lehmann, unit of the metric) with
#'   shift_low and shift_high, delta (Cliff; negative: a is lower) with delta_low and delta_high, certain (chance had no part),
#'   test, p (NA where certain), p_sessions (that the ratio is the same in all sessions), p_adjusted (over all rows), adjustment,
#'   significant (of certain loads: the medians differ), comparisons, share_a, share_b, rule (the
#'   arm that beats the other by the rule, `tie` or `not measured`), median_rule (the arm whose median is more than 5 % better, `alike`)
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
  judge_family(table, study$comparison)
}

#' Correct the p-values of a table over all of its rows.
judge_family <- function(table, comparison) {
  table$p_adjusted <- adjust_p(table$p, comparison$adjust)
  table$adjustment <- comparison$adjust
  differs <- !is.na(table$ratio) & abs(table$ratio - 1) > EXACT_TOLERANCE
  table$significant <- is_significant(table$p_adjusted, comparison) | (table$certain & differs)
  table
}

#' Why a pair has, or has no, result in its cell.
pair_state <- function(table, excluded) {
  out <- outcome_key(excluded$cell, excluded$arm)
  left_out <- outcome_key(table$cell, table$a) %in% out | outcome_key(table$cell, table$b) %in% out
  # A paired design without a repetition that both have compares nothing.
  measured <- table$n_a > 0L & table$n_b > 0L & !is.na(table$median_a) & !is.na(table$median_b)
  ifelse(measured, "measured", ifelse(left_out, "not applicable", NOT_MEASURED))
}
