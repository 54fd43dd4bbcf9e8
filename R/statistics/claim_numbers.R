# The numbers that the conditions of claims are about, with bootstrap intervals.

uses(
  "base/errors", "base/tables", "read/censoring", "read/labels", "read/runs", "read/states", "read/study",
  "statistics/claim_levels", "statistics/claims", "statistics/comparisons", "statistics/correlation",
  "statistics/effects", "statistics/enough", "statistics/overall", "statistics/resampling", "statistics/rule"
)

#' Ratio, lead in percent or share by the rule, of two arms in one cell or of one arm in two cells.
#'
#' @return list(value, interval, n, note, missing, certain: had chance no part in it?)
number_in_cell <- function(atom, data) {
  study <- data$study
  index <- if (atom$quantity == "rule_share") data$median else data[[atom$statistic]]
  other_cell <- atom$against_cell %||% atom$cells
  a <- outcomes_at(index, atom$cells, atom$arm)
  b <- outcomes_at(index, other_cell, atom$against)
  n <- min(length(a), length(b))
  if (n == 0L) {
    return(nothing_measured(atom, study))
  }
  paired <- is.null(atom$against_cell) && study$comparison$design == "paired"
  samples <- matched_samples(
    sample_at(index, atom$cells, atom$arm), sample_at(index, other_cell, atom$against), if (paired) "paired" else "independent"
  )
  seed <- derive_seed(study$seed, atom$cells, other_cell, atom$arm, atom$against, atom$quantity)
  number <- if (atom$quantity == "rule_share") {
    share_number(a, b, samples, study$comparison, seed)
  } else {
    ratio_number(samples, atom, study$comparison, seed)
  }
  certain <- is.infinite(samples$deciding)
  c(number, list(n = n, note = unfinished_note(data$median, atom, other_cell), missing = FALSE, certain = certain))
}

ratio_number <- function(samples, atom, comparison, seed) {
  statistic <- atom$statistic
  if (length(samples$a) == 0L) {
    return(list(value = NA_real_, interval = NO_INTERVAL))
  }
  value <- censored_ratio(statistic_of(statistic, samples$a), statistic_of(statistic, samples$b))
  interval <- ratio_interval(samples, statistic, comparison, seed)
  as_asked(list(value = value, interval = interval), atom, comparison)
}

#' A ratio as the condition asks for it: itself, or the lead of the first in percent.
as_asked <- function(ratio, atom, comparison) {
  if (atom$quantity != "ahead_percent") {
    return(ratio)
  }
  lead <- function(x) if (comparison$metric$better == "higher") 100 * (x - 1) else 100 * (1 - x)
  ratio$value <- lead(ratio$value)
  ratio$interval <- sort(lead(ratio$interval), na.last = TRUE)
  ratio
}

share_number <- function(a, b, samples, comparison, seed) {
  rule <- comparison$rule
  cost <- function(values) as_costs(values, comparison$metric)
  value <- beat_share(cost(a), cost(b), rule$cost_margin, rule$comparisons)
  if (samples$deciding < loads_needed(comparison$confidence)) {
    return(list(value = value, interval = NO_INTERVAL))
  }
  draws <- sample_draws(samples, comparison$resamples, seed)
  replicates <- replicate_share(cost(samples$a), cost(samples$b), draws[[1]], draws[[2]], rule$cost_margin, rule$comparisons)
  list(value = value, interval = percentile_interval(replicates, comparison$confidence))
}

#' Geometric mean of the ratios of all cells.
ratio_over_cells <- function(atom, data) {
  study <- data$study
  index <- data[[atom$statistic]]
  counts <- pmin(loads_in(index, atom$cells, atom$arm), loads_in(index, atom$cells, atom$against))
  excluded <- excluded_cells(study, atom$cells, c(atom$arm, atom$against))
  measured <- atom$cells[counts > 0L]
  missing <- length(setdiff(atom$cells, c(measured, excluded)))
  if (length(measured) == 0L) {
    return(nothing_measured(atom, study))
  }
  seed <- derive_seed(study$seed, atom$arm, atom$against, "cells")
  ratio <- mean_ratio(index, study, measured, c(atom$arm, atom$against), seed, atom$statistic)
  ratio <- as_asked(ratio, atom, study$comparison)
  note <- if (ratio$cells < length(atom$cells)) sprintf("%d of %d cells", ratio$cells, length(atom$cells)) else ""
  list(
    value = ratio$value, interval = ratio$interval, n = min(counts[counts > 0L]), note = note, missing = missing > 0L,
    certain = ratio$certain
  )
}

loads_in <- function(index, cells, arm) {
  vapply(cells, function(cell) length(outcomes_at(index, cell, arm)), 0L, USE.NAMES = FALSE)
}

excluded_cells <- function(study, cells, arms) {
  intersect(cells, study$excluded$cell[study$excluded$arm %in% arms])
}

#' Percentage of the cells that an arm wins. A cell that was not measured, or has few loads, may go either way.
#'
#' @return list(value, interval, n, missing, few: does a cell have too few loads, certain: had chance no part in any, note)
cells_won <- function(atom, data) {
  study <- data$study
  arms <- c(atom$arm, atom$against)
  cells <- setdiff(atom$cells, excluded_cells(study, atom$cells, arms))
  counts <- do.call(pmin, lapply(arms, function(arm) loads_in(data$median, cells, arm)))
  measured <- cells[counts > 0L]
  missing <- length(cells) - length(measured)
  if (length(measured) == 0L) {
    return(nothing_measured(atom, study))
  }
  total <- 0L
  few <- 0L
  drawn <- FALSE
  replicates <- numeric(study$comparison$resamples)
  for (cell in measured) {
    outcomes <- costs_of_arms(data$median, study, cell, arms)
    total <- total + arm_wins(beat_matrix(outcomes, study$comparison$rule), atom)
    deciding <- deciding_loads(lapply(arms, sample_at, index = data$median, cell = cell))
    drawn <- drawn || is.finite(deciding)
    if (deciding < loads_needed(study$comparison$confidence)) {
      few <- few + 1L
    } else {
      replicates <- replicates + replicate_wins(outcomes, atom, study$comparison, derive_seed(study$seed, cell, atom$arm, "won"))
    }
  }
  interval <- percentile_interval(replicates, study$comparison$confidence)
  list(
    value = 100 * total / length(measured), interval = 100 * (interval + c(0, missing + few)) / length(cells),
    n = min(counts[counts > 0L]), missing = FALSE, few = few > 0L, certain = !drawn && missing == 0L,
    note = sprintf("%d of %d cells%s", total, length(measured), if (missing > 0L) sprintf(", %d not measured", missing) else "")
  )
}

#' Does the arm win, given who beats whom?
arm_wins <- function(beats, atom) {
  if (atom$beats == "first_place") atom$arm %in% cell_winners(beats) else all(beats[atom$arm, atom$against])
}

#' Bootstrap replicates of `arm_wins` in one cell; a paired design draws repetitions, not loads.
#'
#' @return logical vector, one per resample
replicate_wins <- function(outcomes, atom, comparison, seed) {
  shared <- Reduce(intersect, lapply(outcomes, names))
  whole <- all(lengths(outcomes) == length(shared)) || comparison$rule$comparisons == "paired"
  if (length(shared) == 0L && whole) {
    return(rep(FALSE, comparison$resamples))
  }
  paired <- comparison$design == "paired" && whole
  if (paired) outcomes <- lapply(outcomes, `[`, shared)
  arms <- names(outcomes)
  draws <- stats::setNames(draw_samples(outcomes, paired, comparison$resamples, seed), arms)
  rule <- comparison$rule
  pairs <- expand.grid(a = arms, b = arms, stringsAsFactors = FALSE)
  won <- mapply(function(a, b) {
    share <- if (a == b) 0 else replicate_share(outcomes[[a]], outcomes[[b]], draws[[a]], draws[[b]], rule$cost_margin, rule$comparisons)
    rep_len(a != b & wins(share, rule), comparison$resamples)
  }, pairs$a, pairs$b)
  # The same few outcomes of all duels come up again and again; each is judged once.
  pattern <- apply(won * 1L, 1L, paste, collapse = "")
  first <- !duplicated(pattern)
  judged <- apply(won[first, , drop = FALSE], 1L, function(beats) {
    arm_wins(matrix(beats, length(arms), dimnames = list(arms, arms)), atom)
  })
  judged[match(pattern, pattern[first])]
}

#' Spearman's rank correlation of the metric with another column, over the finished loads of one arm in one cell.
correlation_number <- function(atom, data) {
  study <- data$study
  if (length(outcomes_at(data$median, atom$cells, atom$arm)) == 0L) {
    return(nothing_measured(atom, study))
  }
  loads <- paired_columns(data$runs, atom$cells, atom$arm, atom$against)
  found <- correlation_interval(loads, study$comparison, derive_seed(study$seed, atom$cells, atom$arm, atom$against, "correlation"))
  note <- if (loads$without > 0L) sprintf("%d loads have no %s", loads$without, atom$against) else ""
  c(found, list(note = note, missing = FALSE))
}

nothing_measured <- function(atom, study) {
  note <- if (why_absent(atom, study) == NOT_APPLICABLE) NOT_APPLICABLE else NOT_MEASURED
  list(value = NA_real_, interval = NO_INTERVAL, n = 0L, note = note, missing = TRUE)
}

#' How many loads behind a number did not finish.
unfinished_note <- function(index, atom, other_cell) {
  values <- c(outcomes_at(index, atom$cells, atom$arm), outcomes_at(index, other_cell, atom$against))
  open <- sum(is_unfinished(values))
  if (open > 0L) sprintf("%d of %d loads did not finish", open, length(values)) else ""
}

#' A condition in words.
describe_atom <- function(atom, study) {
  if (atom$quantity %in% LEVEL_QUANTITIES) {
    return(describe_level(atom, study))
  }
  metric <- study$comparison$metric$short
  arm <- arm_label(study, atom$arm)
  against <- if (atom$quantity == "correlation") atom$against else phrase(arm_label(study, atom$against))
  place <- if (length(atom$cells) == 1L) cell_title(study, atom$cells) else sprintf("%d cells", length(atom$cells))
  if (!is.null(atom$against_cell)) {
    changed <- changed_factors(study, atom$cells, atom$against_cell)
    return(sprintf(
      "%s %s of %s: %s against %s", atom$statistic, metric, arm, place, cell_title(study, atom$against_cell, changed)
    ))
  }
  switch(atom$quantity,
    ratio = sprintf("%s %s of %s divided by that of %s: %s", atom$statistic, metric, arm, against, place),
    ahead_percent = sprintf("lead of %s over %s in %s %s, percent: %s", arm, against, atom$statistic, metric, place),
    correlation = sprintf("rank correlation of %s with %s, %s: %s", metric, tolower_first(column_axis(against)$title), arm, place),
    rule_share = sprintf(
      "share of comparisons in which %s is at least %g %% %s than %s: %s",
      arm, 100 * study$comparison$rule$margin, comparative(study$comparison$metric), against, place
    ),
    cells_won_percent = if (atom$beats == "first_place") {
      sprintf("percentage of cells in which %s is among the winners (against %s): %s", arm, against, place)
    } else {
      sprintf("percentage of cells in which %s beats %s: %s", arm, against, place)
    }
  )
}

changed_factors <- function(study, cell, other) {
  design <- study$design
  rows <- pick(design, match(c(cell, other), design$cell))
  changed <- Filter(function(name) rows[[name]][1] != rows[[name]][2], factor_names(study))
  if (length(changed) == 0L) factor_names(study) else changed
}
