# How often the tests and the rules err: by simulation, and by shuffling the labels of real tables, which makes arms that do
# not differ out of loads that were measured.

uses(
  "read/runs", "read/study", "statistics/adjust", "statistics/comparisons", "statistics/location",
  "statistics/resampling", "statistics/rule"
)

#' A family of cells in which no arm differs from another: log-normal loads with a common effect of each block.
#'
#' @param cells,arms,n numbers of cells, arms and repetitions
#' @return list of cells, each a matrix repetitions × arms
null_family <- function(cells, arms, n, spread = 0.2, block_spread = 0.1, block_size = 5L) {
  lapply(seq_len(cells), function(cell) {
    blocks <- stats::rnorm(ceiling(n / block_size), sd = block_spread)[(seq_len(n) - 1L) %/% block_size + 1L]
    exp(matrix(stats::rnorm(n * arms, sd = spread), n, arms) + blocks)
  })
}

#' The loads of a real table as such a family: of each cell the repetitions that all compared arms have.
real_family <- function(index, study) {
  arms <- unique(unlist(study$comparison$pair_table))
  cells <- lapply(study$design$cell, function(cell) {
    outcomes <- Filter(length, stats::setNames(lapply(arms, outcomes_at, index = index, cell = cell), arms))
    shared <- Reduce(intersect, lapply(outcomes, names))
    if (length(outcomes) < 2L || length(shared) < 2L) {
      return(NULL)
    }
    vapply(outcomes, function(values) values[shared], numeric(length(shared)))
  })
  Filter(Negate(is.null), cells)
}

#' The same family with the labels of the arms shuffled within every repetition.
shuffle_labels <- function(family) {
  lapply(family, function(loads) t(apply(loads, 1L, sample)))
}

#' What one family says, though nothing differs.
#'
#' @param family list of matrices; neighbouring columns are the pairs
#' @param design `paired` or `independent`
#' @return named shares of all tests: raw, holm, bh (significant at 5 %), rule (decided by the rule), median (by the
#'   5 % of the medians); holm_any, bh_any: is at least one test of the family significant?
false_positives <- function(family, design, rule = list(share = 0.7, margin = 0.1)) {
  pairs <- unlist(lapply(family, function(loads) {
    lapply(seq_len(ncol(loads) - 1L), function(i) list(a = loads[, i], b = loads[, i + 1L]))
  }), recursive = FALSE)
  p <- vapply(pairs, function(pair) location_test(null_samples(pair, design)), 0)
  decided <- vapply(pairs, function(pair) {
    shares <- c(beat_share(pair$a, pair$b, rule$margin), beat_share(pair$b, pair$a, rule$margin))
    any(wins(shares, rule))
  }, TRUE)
  apart <- vapply(pairs, function(pair) {
    median_rule(censored_median(pair$a), censored_median(pair$b), "a", "b") != ALIKE
  }, TRUE)
  adjusted <- lapply(names(ADJUSTMENTS), function(method) adjust_p(p, method) <= 0.05)
  names(adjusted) <- names(ADJUSTMENTS)
  c(
    raw = mean(p <= 0.05), holm = mean(adjusted$holm), bh = mean(adjusted$bh), holm_any = any(adjusted$holm), bh_any = any(adjusted$bh),
    rule = mean(decided), median = mean(apart)
  )
}

null_samples <- function(pair, design) {
  labelled <- function(values) {
    values <- stats::setNames(values, seq_along(values))
    blocks <- stats::setNames(as.character((seq_along(values) - 1L) %/% 5L), names(values))
    list(values = values, sessions = stats::setNames(rep("", length(values)), names(values)), blocks = blocks, certain = FALSE)
  }
  matched_samples(labelled(pair$a), labelled(pair$b), design)
}

#' False positives over many families.
#'
#' @param make function() -> family
#' @return data.table: source, design, n, quantity, families, tests, rate (mean over families), low, high (exact binomial 95 %
#'   interval for the rates over families, otherwise from the spread between families)
error_rates <- function(make, families, source, design, seed) {
  found <- with_seed(seed, {
    lapply(seq_len(families), function(i) {
      family <- make()
      list(rates = false_positives(family, design), tests = sum(vapply(family, ncol, 0L) - 1L), n = max(vapply(family, nrow, 0L)))
    })
  })
  rates <- do.call(rbind, lapply(found, `[[`, "rates"))
  data.table::rbindlist(lapply(colnames(rates), function(quantity) {
    values <- rates[, quantity]
    interval <- if (quantity %in% c("holm_any", "bh_any")) {
      stats::binom.test(sum(values), families)$conf.int
    } else {
      pmax(0, mean(values) + c(-1, 1) * stats::qnorm(0.975) * stats::sd(values) / sqrt(families))
    }
    list(
      source = source, design = design, n = found[[1]]$n, quantity = quantity, families = families, tests = found[[1]]$tests,
      rate = mean(values), low = interval[1], high = interval[2]
    )
  }))
}
