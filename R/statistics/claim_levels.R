# Quantities of claims that are about levels rather than about one comparison: a value, a spread over arms, whose gain
# from a change is larger, and how a gap grows with a change.

uses(
  "base/errors", "read/censoring", "read/labels", "read/runs", "read/selection", "statistics/claim_numbers",
  "statistics/claims", "statistics/comparisons", "statistics/enough", "statistics/resampling"
)

#' Single numbers of such a condition: as from `expand_condition`.
expand_levels <- function(condition, common, cells, arms, study, where) {
  if (common$quantity == "spread") {
    if (length(arms) < 2L) fail(where, "spreads over fewer than two arms", "Give several in 'arm'")
    return(lapply(cells, function(cell) c(common, list(cells = cell, arm = arms))))
  }
  if (common$quantity == "value") {
    atoms <- expand.grid(arm = arms, cell = cells, stringsAsFactors = FALSE)
    return(Map(function(cell, arm) c(common, list(cells = cell, arm = arm)), atoms$cell, atoms$arm))
  }
  pairs <- condition_pairs(condition)
  if (nrow(pairs) == 0L || is.null(condition$against_cells)) {
    fail(where, "compares no change", "Give 'against' and 'against_cells'")
  }
  base <- counterpart_cells(study, cells, condition$against_cells, where)
  atoms <- expand.grid(i = seq_along(cells), pair = seq_len(nrow(pairs)))
  Map(function(i, arm, against) {
    c(common, list(cells = cells[i], arm = arm, against = against, against_cell = base[i]))
  }, atoms$i, pairs$arm[atoms$pair], pairs$against[atoms$pair])
}

#' Statistic of one arm in one cell, with its bootstrap replicates.
#'
#' @return list(value, replicates, sample: as from `sample_at`, n: loads, unfinished: of them)
level_of <- function(data, atom, cell, arm, seed) {
  index <- data[[atom$statistic]]
  sample <- sample_at(index, cell, arm)
  values <- sample$values
  list(
    value = statistic_of(atom$statistic, values), n = length(values), sample = sample,
    replicates = replicate_statistic(values, atom$statistic, data$study$comparison$resamples, seed, sample$sessions),
    unfinished = sum(outcomes_at(data$median, cell, arm) == worst_outcome(data$study$comparison$metric))
  )
}

#' Levels of several arms and cells; their draws are independent.
levels_of <- function(data, atom, cells, arms) {
  Map(function(cell, arm) level_of(data, atom, cell, arm, derive_seed(data$study$seed, cell, arm, atom$quantity)), cells, arms)
}

#' What `evaluate_atom` needs, from a value and its replicates.
#'
#' @param student function(list of the levels' values) -> interval for few loads
level_result <- function(value, replicates, levels, comparison, note, student) {
  deciding <- deciding_loads(lapply(levels, `[[`, "sample"))
  values <- lapply(levels, function(level) unname(level$sample$values))
  interval <- interval_of_loads(
    deciding, comparison$confidence, student(values), percentile_interval(replicates, comparison$confidence)
  )
  n <- min(vapply(levels, `[[`, 0L, "n"))
  list(value = value, interval = interval, n = n, note = note, missing = FALSE, certain = is.infinite(deciding))
}

#' The statistic itself.
value_number <- function(atom, data) {
  level <- levels_of(data, atom, atom$cells, atom$arm)
  if (level[[1]]$n == 0L) {
    return(nothing_measured(atom, data$study))
  }
  comparison <- data$study$comparison
  # A median is that of logarithms too; a mean is not.
  student <- function(values) {
    if (atom$statistic == "mean") {
      return(student_interval(values, 1, comparison$confidence))
    }
    exp(student_interval(lapply(values, log), 1, comparison$confidence))
  }
  level_result(level[[1]]$value, level[[1]]$replicates, level, comparison, open_note(level), student)
}

#' The largest statistic of the arms divided by the smallest. Arms of which half the loads did not finish have none.
spread_number <- function(atom, data) {
  levels <- levels_of(data, atom, atom$cells, atom$arm)
  counts <- vapply(levels, `[[`, 0L, "n")
  values <- vapply(levels, `[[`, 0, "value")
  usable <- counts > 0L & is.finite(values) & values > 0
  if (sum(usable) < 2L) {
    return(nothing_measured(atom, data$study))
  }
  replicates <- do.call(cbind, lapply(levels[usable], `[[`, "replicates"))
  # A resample of failures alone has no ratio to offer.
  replicates[!is.finite(replicates) | replicates <= 0] <- NA
  spread <- apply(replicates, 1L, max) / apply(replicates, 1L, min)
  note <- if (all(usable)) "" else sprintf("%d of %d arms have a median", sum(usable), length(usable))
  # Of few loads it is the ratio of the two arms at its ends.
  ends <- c(which.max(values[usable]), which.min(values[usable]))
  comparison <- data$study$comparison
  student <- function(loads) exp(student_interval(lapply(loads[ends], log), c(1, -1), comparison$confidence))
  result <- level_result(max(values[usable]) / min(values[usable]), spread, levels[usable], comparison, note, student)
  # What is not measured could only widen the spread, but the claim is about all that it names.
  excluded <- vapply(atom$arm, function(arm) length(excluded_cells(data$study, atom$cells, arm)) > 0L, TRUE)
  result$missing <- any(counts == 0L & !excluded)
  result
}

#' Gain of one arm from the change of cells divided by the gain of the other: below 1, the first profits less.
gain_ratio_number <- function(atom, data) {
  number <- function(level) censored_ratio(censored_ratio(level[[1]], level[[2]]), censored_ratio(level[[3]], level[[4]]))
  confidence <- data$study$comparison$confidence
  change_number(atom, data, number, function(values) exp(student_interval(lapply(values, log), c(1, -1, -1, 1), confidence)))
}

#' By how much the gap between the other arm and this one is wider than in the cell that it is held against.
gap_growth_number <- function(atom, data) {
  number <- function(level) (level[[3]] - level[[1]]) - (level[[4]] - level[[2]])
  confidence <- data$study$comparison$confidence
  change_number(atom, data, number, function(values) student_interval(values, c(-1, 1, 1, -1), confidence))
}

#' A number made of the levels of two arms in two cells: this arm after and before the change, then the other arm.
#'
#' @param number function(list of the four levels, or of their replicates); not a number where it has no sense
#' @param student as in `level_result`
change_number <- function(atom, data, number, student) {
  cells <- c(atom$cells, atom$against_cell, atom$cells, atom$against_cell)
  arms <- c(atom$arm, atom$arm, atom$against, atom$against)
  levels <- levels_of(data, atom, cells, arms)
  if (any(vapply(levels, `[[`, 0L, "n") == 0L)) {
    return(nothing_measured(atom, data$study))
  }
  replicates <- number(lapply(levels, `[[`, "replicates"))
  # Both arms unfinished: the gap may be anything, and so may its interval.
  if (anyNA(replicates)) replicates <- NA_real_
  level_result(number(lapply(levels, `[[`, "value")), replicates, levels, data$study$comparison, open_note(levels), student)
}

#' How many loads behind levels did not finish.
open_note <- function(levels) {
  count <- function(part) sum(vapply(levels, `[[`, 0L, part))
  if (count("unfinished") > 0L) sprintf("%d of %d loads did not finish", count("unfinished"), count("n")) else ""
}

#' Such a quantity in words.
describe_level <- function(atom, study) {
  metric <- study$comparison$metric$short
  place <- cell_title(study, atom$cells)
  arms <- phrase(arm_label(study, atom$arm), 20L)
  before <- if (is.null(atom$against_cell)) {
    ""
  } else {
    cell_title(study, atom$against_cell, changed_factors(study, atom$cells, atom$against_cell))
  }
  switch(atom$quantity,
    value = sprintf("%s %s of %s: %s", atom$statistic, metric, arms, place),
    spread = sprintf("largest %s %s divided by the smallest, of %s: %s", atom$statistic, metric, arms, place),
    gain_ratio = sprintf(
      "gain in %s %s of %s divided by that of %s: %s against %s", atom$statistic, metric, arms, arm_label(study, atom$against),
      place, before
    ),
    gap_growth = sprintf(
      "growth of the lead of %s over %s in %s %s, %s: %s against %s", arms, arm_label(study, atom$against), atom$statistic, metric,
      study$comparison$metric$unit, place, before
    )
  )
}
