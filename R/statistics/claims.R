# The claims of a paper, tested. A condition of a claim is a number with an interval and a bound: supported if the whole
# interval meets the bound, not supported if no part of it does, otherwise undecided; of too few loads there is no interval, and
# what needs cells or arms that the scale leaves out is not tested, and what needs an arm that its cells cannot have is not applicable.
#
# A claim holds where all of its numbers do, so that each is tested as if it were alone (Berger, Technometrics 24, 1982). It
# falls with any one of them: there the confidence is Bonferroni's over all of them (Dunn, JASA 56, 1961).

uses(
  "base/errors", "base/tables", "base/tolerance", "read/censoring", "read/runs", "read/selection", "read/states",
  "statistics/claim_levels", "statistics/claim_numbers", "statistics/enough", "statistics/metric"
)

SUPPORTED <- "supported"
NOT_SUPPORTED <- "not supported"
TOO_FEW <- "too few loads"
NOT_TESTED <- "not tested at this scale"
NOT_APPLICABLE <- "not applicable"
# Of a number that every further load would repeat.
CERTAIN_NOTE <- "exact: nothing is left to chance"
# Numbers that few loads have an interval of too.
STUDENT_QUANTITIES <- c("ratio", "ahead_percent", "value", "spread", "gain_ratio", "gap_growth")
LEVEL_QUANTITIES <- c("value", "spread", "gain_ratio", "gap_growth")
QUANTITIES <- c("ratio", "ahead_percent", "rule_share", "cells_won_percent", "correlation", LEVEL_QUANTITIES)
BOUNDS <- c("at_least", "more_than", "at_most", "less_than", "between")

#' Evaluate all claims of a study.
#'
#' @param runs as from `read_runs`
#' @param study resolved study
#' @return data.table, one row per condition, cell and pair of arms: claim, text, where, condition (number), what
#'   (in words), quantity, cells, arm, against, paper, bound, value, low, high, n (smallest number of loads), enough
#'   (loads that would do, where they are too few), verdict, refutes (does it count against the claim at the joint
#'   confidence), counts (does it count for the claim), note, claim_verdict
evaluate_claims <- function(runs, study) {
  data <- claim_data(runs, study)
  rows <- lapply(study$claims, evaluate_claim, data = data)
  data.table::rbindlist(c(list(empty_claims()), rows), use.names = TRUE)
}

#' The outcomes that statistics of conditions are taken of.
claim_data <- function(runs, study) {
  # For means a load that did not finish enters with its timeout, the least it would have taken. Its arm is resampled as one
  # stratum there, as it is for medians: the timeout hides why.
  limited <- data.table::copy(runs)
  key <- outcome_key(runs$cell, runs$arm)
  open <- key %in% key[!is.na(runs$value) & is_unfinished(runs$value)]
  data.table::set(limited, j = "value", value = ifelse(is.na(runs$bound), runs$value, runs$bound))
  data.table::set(limited, j = "session_of", value = ifelse(open, "", runs$session_of))
  list(study = study, runs = runs, median = outcome_index(runs), mean = outcome_index(limited))
}

#' The same, of the metric that a condition names.
data_of_condition <- function(condition, data, where) {
  if (is.null(condition$metric)) {
    return(data)
  }
  chosen <- with_metric(condition$metric, data$study, data$runs, where)
  claim_data(chosen$runs, chosen$study)
}

empty_claims <- function() {
  text <- c("claim", "text", "where")
  more <- c("what", "quantity", "cells", "arm", "against", "paper", "bound", "verdict", "note", "claim_verdict")
  table <- c(
    stats::setNames(rep(list(character()), length(text)), text), list(condition = integer()),
    stats::setNames(rep(list(character()), length(more)), more),
    list(
      value = numeric(), low = numeric(), high = numeric(), n = integer(), enough = integer(), refutes = logical(), counts = logical()
    )
  )
  data.table::as.data.table(table)
}

evaluate_claim <- function(claim, data) {
  conditions <- lapply(seq_along(claim$test), function(i) {
    read_condition(claim$test[[i]], data, sprintf("claim '%s', condition %d", claim$id, i))
  })
  joint <- sum(vapply(conditions, function(condition) if (condition$counts) length(condition$atoms) else 0L, 0L))
  rows <- lapply(seq_along(conditions), function(i) {
    table <- evaluate_condition(conditions[[i]], joint)
    table$condition <- i
    table
  })
  table <- data.table::rbindlist(rows)
  table$claim <- claim$id
  table$text <- claim$text
  table$where <- as.character(claim$where %||% "")
  table$claim_verdict <- combine_verdicts(table$verdict[table$counts], table$refutes[table$counts])
  table
}

#' A condition taken apart.
#'
#' @return list(given: the condition, bound, atoms: the numbers that it asks for, data: outcomes of its metric, counts)
read_condition <- function(condition, data, where) {
  list(
    given = condition, bound = read_bound(condition, where), atoms = expand_condition(condition, data$study, where),
    data = data_of_condition(condition, data, where), counts = condition$counts %||% TRUE
  )
}

#' The rows of one condition.
#'
#' @param joint how many numbers the claim stands on
evaluate_condition <- function(condition, joint) {
  table <- data.table::rbindlist(lapply(condition$atoms, evaluate_atom, data = condition$data))
  table$quantity <- condition$given$quantity
  table$bound <- condition$bound$text
  table$paper <- as.character(condition$given$paper %||% "")
  table$counts <- condition$counts
  table$verdict <- verdict_of(table, condition$bound)
  absent <- vapply(condition$atoms, why_absent, "", study = condition$data$study)
  table$verdict[absent == NOT_TESTED & table$verdict %in% c(UNDECIDED, TOO_FEW)] <- NOT_TESTED
  table$verdict[absent == NOT_APPLICABLE & is.na(table$value)] <- NOT_APPLICABLE
  table$enough[table$verdict %in% c(NOT_TESTED, NOT_APPLICABLE)] <- NA_integer_
  table$refutes <- vapply(seq_len(nrow(table)), function(i) {
    table$verdict[i] == NOT_SUPPORTED && refutes(condition$atoms[[i]], condition, joint)
  }, TRUE)
  table$missing <- NULL
  table
}

#' Why a number cannot be had of this plan, however often it is measured.
#'
#' @return NOT_TESTED: it needs cells or an arm that the scale leaves out; NOT_APPLICABLE: its cells cannot have an arm; else ""
why_absent <- function(atom, study) {
  cells <- c(atom$cells, atom$against_cell)
  # Of a correlation the other side is a column.
  arms <- unique(c(atom$arm, if (atom$quantity != "correlation") atom$against))
  if (any(!cells %in% study$planned) || any(!arms %in% vapply(study$arms, `[[`, "", "name"))) {
    return(NOT_TESTED)
  }
  # A number over several cells is of those that there are; a change needs both.
  enough <- if (length(atom$cells) > 1L) length(cells) else 1L
  excluded <- pick(study$excluded, study$excluded$cell %in% cells)
  out <- Filter(function(rows) nrow(rows) >= enough, lapply(arms, function(arm) pick(excluded, excluded$arm == arm)))
  if (length(out) == 0L) {
    return("")
  }
  if (all(vapply(out, function(rows) any(rows$left_out), TRUE))) NOT_TESTED else NOT_APPLICABLE
}

#' Verdicts of the rows of a condition.
verdict_of <- function(table, bound) {
  verdict <- judge(table$low, table$high, bound)
  verdict[verdict == UNDECIDED & !is.na(table$enough)] <- TOO_FEW
  # Missing measurements leave a condition open whatever the rest says; counting cells allows for them itself.
  verdict[table$missing] <- UNDECIDED
  verdict
}

#' Does this number still miss its bound with the confidence that so many numbers of one claim ask for?
refutes <- function(atom, condition, joint) {
  if (joint < 2L) {
    return(TRUE)
  }
  data <- condition$data
  data$study$comparison$confidence <- 1 - (1 - data$study$comparison$confidence) / joint
  verdict_of(evaluate_atom(atom, data), condition$bound) == NOT_SUPPORTED
}

#' A claim is supported if all of its numbers are, and not supported if one refutes it.
#'
#' @param refutes which of them count against it at the joint confidence
combine_verdicts <- function(verdicts, refutes = verdicts == NOT_SUPPORTED) {
  if (any(refutes)) {
    return(NOT_SUPPORTED)
  }
  if (length(verdicts) > 0L && all(verdicts == SUPPORTED)) {
    return(SUPPORTED)
  }
  # What no further load can change comes first.
  c(intersect(c(NOT_APPLICABLE, NOT_TESTED, TOO_FEW), verdicts), UNDECIDED)[1]
}

#' The bound of a condition.
#'
#' @return list(lower, upper, open: is the bound itself outside, text)
read_bound <- function(condition, where) {
  given <- intersect(BOUNDS, names(condition))
  if (length(given) != 1L) fail(where, sprintf("has %d bounds", length(given)), paste("Give one of", phrase(BOUNDS)))
  numbers <- as.numeric(unlist(condition[[given]]))
  if (length(numbers) != if (given == "between") 2L else 1L) {
    fail(where, sprintf("'%s' has %d numbers", given, length(numbers)), "Give [low, high] for between, one number otherwise")
  }
  shown <- format(numbers, trim = TRUE)
  switch(given,
    at_least = list(lower = numbers, upper = Inf, open = FALSE, text = paste("at least", shown)),
    more_than = list(lower = numbers, upper = Inf, open = TRUE, text = paste("more than", shown)),
    at_most = list(lower = -Inf, upper = numbers, open = FALSE, text = paste("at most", shown)),
    less_than = list(lower = -Inf, upper = numbers, open = TRUE, text = paste("less than", shown)),
    between = list(lower = numbers[1], upper = numbers[2], open = FALSE, text = paste(shown, collapse = " to "))
  )
}

#' Verdicts of intervals against a bound.
judge <- function(low, high, bound) {
  # A bound of 0 has no share of its own: no number that is measured is as small as this.
  slack <- RELATIVE_TOLERANCE * pmax(abs(c(bound$lower, bound$upper)), RELATIVE_TOLERANCE)
  slack[!is.finite(slack)] <- 0
  # At a closed bound equality is inside, at an open one outside.
  direction <- if (bound$open) 1 else -1
  inside_low <- bound$lower + direction * abs(slack[1])
  inside_high <- bound$upper - direction * abs(slack[2])
  meets <- low >= inside_low & high <= inside_high
  misses <- high < inside_low | low > inside_high
  ifelse(is.na(low) | is.na(high), UNDECIDED, ifelse(meets, SUPPORTED, ifelse(misses, NOT_SUPPORTED, UNDECIDED)))
}

#' A condition as the single numbers it asks for.
#'
#' @return list of lists(quantity, statistic, cells, arm, against, against_cell, beats)
expand_condition <- function(condition, study, where) {
  quantity <- condition$quantity
  if (is.null(quantity) || !quantity %in% QUANTITIES) fail(where, "has no known 'quantity'", paste("Known:", phrase(QUANTITIES)))
  statistic <- condition$statistic %||% "median"
  if (!statistic %in% c("mean", "median")) fail(where, sprintf("no statistic is called '%s'", statistic), "Use mean or median")
  cells <- select_cells(study, condition$cells, where)$cell
  arms <- as.character(unlist(condition$arm))
  against <- as.character(unlist(condition$against))
  common <- list(quantity = quantity, statistic = statistic)
  if (quantity %in% LEVEL_QUANTITIES) {
    return(expand_levels(condition, common, cells, arms, study, where))
  }
  if (quantity == "cells_won_percent") {
    beats <- condition$beats %||% "all"
    return(lapply(arms, function(arm) c(common, list(cells = cells, arm = arm, against = setdiff(against, arm), beats = beats))))
  }
  if (quantity == "correlation") {
    if (is.null(condition$with)) fail(where, "has no 'with'", "Name the column that the metric may go with")
    atoms <- expand.grid(i = seq_along(cells), arm = arms, stringsAsFactors = FALSE)
    return(Map(function(i, arm) c(common, list(cells = cells[i], arm = arm, against = condition$with)), atoms$i, atoms$arm))
  }
  if (!is.null(condition$against_cells)) {
    base <- counterpart_cells(study, cells, condition$against_cells, where)
    atoms <- expand.grid(i = seq_along(cells), arm = arms, stringsAsFactors = FALSE)
    return(Map(function(i, arm) c(common, list(cells = cells[i], arm = arm, against = arm, against_cell = base[i])), atoms$i, atoms$arm))
  }
  pairs <- condition_pairs(condition)
  if (nrow(pairs) == 0L) fail(where, "compares no two different arms", "Give 'against' (or 'against_cells')")
  groups <- if (identical(condition$combine, "geometric_mean")) list(cells) else as.list(cells)
  unlist(lapply(groups, function(group) {
    Map(function(arm, against) c(common, list(cells = group, arm = arm, against = against)), pairs$arm, pairs$against)
  }), recursive = FALSE)
}

#' The pairs of arms that a condition compares: those that it lists, or one arm with each of the other side.
#'
#' @return table(arm, against)
condition_pairs <- function(condition) {
  given <- as.character(unlist(condition$pairs))
  if (length(given) > 0L) {
    listed <- matrix(given, ncol = 2L, byrow = TRUE)
    return(data.frame(arm = listed[, 1], against = listed[, 2]))
  }
  arms <- as.character(unlist(condition$arm))
  against <- as.character(unlist(condition$against))
  pairs <- expand.grid(against = against, arm = arms, stringsAsFactors = FALSE)
  pick(pairs, pairs$arm != pairs$against)
}

#' One number of a condition with its interval.
evaluate_atom <- function(atom, data) {
  result <- if (atom$quantity %in% LEVEL_QUANTITIES) {
    switch(atom$quantity,
      value = value_number, spread = spread_number, gain_ratio = gain_ratio_number, gap_growth = gap_growth_number
    )(atom, data)
  } else if (atom$quantity == "cells_won_percent") {
    cells_won(atom, data)
  } else if (atom$quantity == "correlation") {
    correlation_number(atom, data)
  } else if (length(atom$cells) > 1L) {
    ratio_over_cells(atom, data)
  } else {
    number_in_cell(atom, data)
  }
  data.table::data.table(
    what = describe_atom(atom, data$study), cells = paste(atom$cells, collapse = " "), arm = paste(atom$arm, collapse = " "),
    against = paste(atom$against_cell %||% atom$against, collapse = " "),
    value = result$value, low = result$interval[1], high = result$interval[2], n = as.integer(result$n),
    enough = loads_wanted(atom, result, data$study$comparison$confidence),
    note = paste(c(result$note[nzchar(result$note)], if (isTRUE(result$certain)) CERTAIN_NOTE), collapse = "; "),
    missing = result$missing
  )
}

#' How many loads would give this number its interval; NA where the number of loads is not what is wrong.
loads_wanted <- function(atom, result, confidence) {
  few <- result$few %||% (anyNA(result$interval) && !is.na(result$value))
  wanted <- if (atom$quantity %in% STUDENT_QUANTITIES && result$n < SMALLEST_SPREAD) SMALLEST_SPREAD else loads_needed(confidence)
  if (few && !result$missing && result$n < wanted) wanted else NA_integer_
}
