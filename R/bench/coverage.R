# How often the intervals hold what they promise, by simulation.

uses(
  "bench/error_rates", "read/runs", "read/study", "statistics/claim_levels", "statistics/correlation",
  "statistics/effects", "statistics/enough", "statistics/intervals", "statistics/location", "statistics/overall",
  "statistics/resampling"
)

# Loads as they come without loss, and as they come where a loss costs a timeout: two of five take twice as long.
LOG_NORMAL <- list(draw = function(n) exp(stats::rnorm(n, sd = 0.2)), median = 1, mean = exp(0.2^2 / 2))
TWO_MODES <- list(
  draw = function(n) exp(stats::rnorm(n, sd = 0.02)) * ifelse(stats::runif(n) < 0.6, 1, 2),
  median = exp(0.02 * stats::qnorm(0.5 / 0.6)), mean = 1.4 * exp(0.02^2 / 2)
)
# The two arms of a comparison.
DISTRIBUTIONS <- list(
  "log-normal" = list(LOG_NORMAL, LOG_NORMAL), "two modes" = list(TWO_MODES, TWO_MODES),
  "two modes against log-normal" = list(TWO_MODES, LOG_NORMAL)
)
# Of arms that are 1, 1.2, 1.5 and 2 times as slow as the first, in turn of both kinds.
SIMULATED_ARMS <- c(a = 1, b = 1.2, c = 1.5, d = 2)
SIMULATED_CELLS <- c("x", "y", "z")
COVERED <- c(
  "median", "ratio_paired", "ratio_independent", "ratio_of_means", "mean_ratio", "gain_ratio", "spread", "shift_paired",
  "shift_independent", "delta", "correlation"
)
# Always looked at; those that plans have come to them.
SIMULATED_SIZES <- c(2L, 3L, 4L, 5L, 6L, 8L, 10L, 20L, 50L)

#' The numbers of loads that cells of a plan have.
repetitions_in <- function(plan) {
  cells <- vapply(plan$blocks, `[[`, "", "cell")
  sort(unique(as.integer(tapply(vapply(plan$blocks, function(block) length(block$repetitions), 0L), cells, sum))))
}

#' Coverage of the intervals.
#'
#' @return data.table: distribution, interval, n, simulations (that had an interval), attainable (the most that n loads allow
#'   a bootstrap interval), coverage, low, high (exact binomial)
coverage_rates <- function(sizes, simulations, seed, confidence = 0.95, resamples = 300L) {
  comparison <- list(confidence = confidence, resamples = resamples, design = "paired", metric = list(better = "lower"))
  grid <- expand.grid(n = sizes, distribution = names(DISTRIBUTIONS), stringsAsFactors = FALSE)
  data.table::rbindlist(lapply(seq_len(nrow(grid)), function(row) {
    n <- grid$n[row]
    distribution <- grid$distribution[row]
    hits <- with_seed(derive_seed(seed, distribution, n), {
      vapply(seq_len(simulations), function(i) simulated_hits(n, distribution, comparison, i), logical(length(COVERED)))
    })
    data.table::rbindlist(lapply(seq_along(COVERED), function(i) {
      known <- hits[i, !is.na(hits[i, ])]
      if (length(known) == 0L) {
        return(NULL)
      }
      interval <- stats::binom.test(sum(known), length(known))$conf.int
      list(
        distribution = distribution, interval = COVERED[i], n = n, simulations = length(known),
        attainable = attainable_confidence(n), coverage = mean(known), low = interval[1], high = interval[2]
      )
    }))
  }))
}

#' Which intervals of one simulation hold the truth, in the order of COVERED; NA where there is none.
simulated_hits <- function(n, distribution, comparison, seed) {
  kinds <- DISTRIBUTIONS[[distribution]]
  rows <- list(pair_rows(n, kinds, comparison, seed), claim_rows(n, kinds, comparison, seed), correlation_row(n, kinds, comparison, seed))
  rows <- do.call(rbind, rows)[COVERED, ]
  rows[, "low"] <= rows[, "truth"] & rows[, "truth"] <= rows[, "high"]
}

#' Intervals as rows low, high and truth.
rows_of <- function(...) {
  rows <- rbind(...)
  colnames(rows) <- c("low", "high", "truth")
  rows
}

#' Of two arms in one cell.
pair_rows <- function(n, kinds, comparison, seed) {
  x <- kinds[[1]]$draw(n)
  y <- SIMULATED_ARMS[["b"]] * kinds[[2]]$draw(n)
  of <- function(statistic, design) {
    truth <- kinds[[1]][[statistic]] / (SIMULATED_ARMS[["b"]] * kinds[[2]][[statistic]])
    c(ratio_interval(null_samples(list(a = x, b = y), design), statistic, comparison, seed), truth)
  }
  # A shift of all loads by a constant is exact for any distribution, if both arms have the same.
  gap <- -0.2
  alike <- identical(kinds[[1]], kinds[[2]])
  shift <- function(design) {
    moved <- null_samples(list(a = x + gap, b = y / SIMULATED_ARMS[["b"]]), design)
    c(shift_interval(moved, comparison$confidence)[2:3], if (alike) gap else NA_real_)
  }
  # By the normal distribution of the logarithms; of other kinds it has no such form.
  delta <- if (is_normal(kinds)) 2 * stats::pnorm(log(1 / SIMULATED_ARMS[["b"]]) / (0.2 * sqrt(2))) - 1 else NA_real_
  rows_of(
    median = c(median_interval(x, comparison$confidence)[2:3], kinds[[1]]$median),
    ratio_paired = of("median", "paired"), ratio_independent = of("median", "independent"), ratio_of_means = of("mean", "paired"),
    shift_paired = shift("paired"), shift_independent = shift("independent"),
    delta = c(delta_interval(null_samples(list(a = x, b = y), "independent"), comparison, seed), delta)
  )
}

is_normal <- function(kinds) identical(kinds, DISTRIBUTIONS[["log-normal"]])

#' Of claims over several cells and arms, by the functions that evaluate them.
claim_rows <- function(n, kinds, comparison, seed) {
  data <- simulated_data(n, kinds, comparison, seed)
  atom <- list(statistic = "median", cells = "x", arm = "a", against = "b")
  medians <- SIMULATED_ARMS * rep(vapply(kinds, `[[`, 0, "median"), 2L)
  of <- function(number, ...) number(utils::modifyList(atom, list(...)), data)$interval
  rows_of(
    mean_ratio = c(mean_ratio(data$median, data$study, SIMULATED_CELLS, c("a", "b"), seed)$interval, medians[["a"]] / medians[["b"]]),
    gain_ratio = c(of(gain_ratio_number, quantity = "gain_ratio", against_cell = "y"), 1),
    spread = c(of(spread_number, quantity = "spread", arm = names(SIMULATED_ARMS)), max(medians) / min(medians))
  )
}

#' Loads of all arms in all cells as claims see them.
simulated_data <- function(n, kinds, comparison, seed) {
  grid <- expand.grid(arm = seq_along(SIMULATED_ARMS), cell = SIMULATED_CELLS, stringsAsFactors = FALSE)
  values <- lapply(grid$arm, function(arm) SIMULATED_ARMS[[arm]] * kinds[[2L - arm %% 2L]]$draw(n))
  runs <- data.table::data.table(
    cell = rep(grid$cell, each = n), arm = rep(names(SIMULATED_ARMS)[grid$arm], each = n), value = unlist(values),
    pair = rep(as.character(seq_len(n)), nrow(grid)), session_of = "", block_of = "", certain = FALSE
  )
  study <- list(
    seed = seed, comparison = comparison, excluded = excluded_table(list()), planned = SIMULATED_CELLS,
    arms = lapply(names(SIMULATED_ARMS), function(name) list(name = name))
  )
  index <- outcome_index(runs)
  list(study = study, runs = runs, median = index, mean = index)
}

#' Of the rank correlation of two normal columns (Pearson, Drapers' Company Research Memoirs 4, 1907).
correlation_row <- function(n, kinds, comparison, seed, r = -0.7) {
  x <- stats::rnorm(n)
  y <- r * x + sqrt(1 - r^2) * stats::rnorm(n)
  loads <- list(x = x, y = y, sessions = rep("", n))
  truth <- if (is_normal(kinds)) 6 / pi * asin(r / 2) else NA_real_
  found <- if (is.na(truth)) NO_INTERVAL else correlation_interval(loads, comparison, seed)$interval
  rows_of(correlation = c(found, truth))
}
