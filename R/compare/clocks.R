# The same cells by both clocks (docs/virtual-time.md): is a load that takes another time in virtual time explained by the
# processor, which is free there?

uses(
  "base/errors", "base/tables", "read/clocks", "read/runs", "read/states", "statistics/enough", "compare/measurements"
)

VIRTUAL <- "virtual time"
REAL <- "real time"
# What may be left over beyond the processor, as a share of the load in real time.
LEFT_OVER_SHARE <- 0.01

EXPLAINED <- "explained"
LEFT_OVER <- "left over"

#' Read one table of each clock.
#'
#' @param study resolved study, in virtual time
#' @return as from `read_measurements`: the measurements are `REAL` and `VIRTUAL`
read_clocks <- function(study, virtual, real) {
  found <- read_measurements(study, c(real, virtual), labels = c(REAL, VIRTUAL))
  missing <- setdiff(c("cpu_server_s", "cpu_client_s", "packets_down"), names(found$runs))
  if (length(missing) > 0L) fail("--virtual, --real", sprintf("have no column '%s'", missing[1]), "See docs/formats.md, section 6")
  wrong <- is_virtual(found$runs) != (found$runs$measurement == VIRTUAL)
  if (any(wrong)) {
    table <- if (found$runs$measurement[which(wrong)[1]] == REAL) "--real" else "--virtual"
    fail(table, "holds loads of the other clock", "Column 'clock' says by which a load was measured")
  }
  found
}

#' Comparison of the two clocks in every cell and arm that both have.
#'
#' The links' dice differ between the clocks, so loads are no pairs. Processor seconds are those of server and client of the
#' loads in real time. A load can take as much longer there as they last, or less where they pass while packets are on their way.
#'
#' @param found as from `read_clocks`
#' @return data.table, one row per cell and arm: cell, arm, dice (chance has a part in the cell), n_virtual, n_real,
#'   median_virtual_s, median_real_s, difference_percent (how much longer the load is in real time, of the time there) with
#'   low and high; processor_s (median), processor_percent (of the time there); left_over_percent (of the difference: what is
#'   below 0 or beyond the processor); packets_virtual, packets_real (median packets down), packets_percent (their difference
#'   in virtual time); verdict as from `clock_verdict`
compare_clocks <- function(found) {
  # Repetitions of the same number have nothing in common.
  found$study$comparison$design <- "independent"
  moved <- compare_measurements(found$runs, found$study)
  moved <- pick(moved, moved$state != NOT_MEASURED)
  if (nrow(moved) == 0L) fail("--virtual, --real", "have no cell and arm in common", "Give tables of the same study")
  loads <- split(found$runs, found$runs$measurement)
  seconds <- medians_of(loads[[REAL]], as.numeric(loads[[REAL]]$cpu_server_s) + as.numeric(loads[[REAL]]$cpu_client_s), moved)
  packets <- lapply(loads, function(part) medians_of(part, as.numeric(part$packets_down), moved))
  table <- data.table::data.table(
    cell = moved$cell, arm = moved$arm, dice = !moved$cell %in% found$study$exact, n_virtual = moved$n_a, n_real = moved$n_b,
    median_virtual_s = moved$median_a, median_real_s = moved$median_b,
    difference_percent = 100 * (1 - moved$ratio), low = 100 * (1 - moved$high), high = 100 * (1 - moved$low),
    processor_s = seconds, processor_percent = 100 * seconds / moved$median_b
  )
  beyond <- function(difference) difference - pmin(pmax(difference, 0), table$processor_percent)
  table$left_over_percent <- beyond(table$difference_percent)
  table$packets_virtual <- packets[[VIRTUAL]]
  table$packets_real <- packets[[REAL]]
  table$packets_percent <- 100 * (table$packets_virtual / table$packets_real - 1)
  table$verdict <- clock_verdict(table$low, table$high, table$processor_percent)
  table
}

#' What intervals of differences say (percent; NA: no interval).
#'
#' @return `EXPLAINED`: the whole interval is between 0 and the processor's time, within `LEFT_OVER_SHARE`; `LEFT_OVER`: none of
#'   it is; `UNDECIDED`
clock_verdict <- function(low, high, processor_percent) {
  least <- -100 * LEFT_OVER_SHARE
  most <- processor_percent + 100 * LEFT_OVER_SHARE
  inside <- low >= least & high <= most
  outside <- high < least | low > most
  ifelse(inside %in% TRUE, EXPLAINED, ifelse(outside %in% TRUE, LEFT_OVER, UNDECIDED))
}

#' The clocks over all cells of an arm, those with dice and those without apart: single cells with dice decide nothing at few loads.
#'
#' @param found as from `read_clocks`
#' @param table as from `compare_clocks`
#' @return data.table, one row per arm and kind of cells: arm, dice, cells, explained, left_over, undecided (numbers of cells);
#'   difference_percent of the geometric means over loads and cells, with low and high (Welch's, on the logarithms);
#'   processor_percent, packets_percent (means over the cells); verdict
pool_clocks <- function(found, table) {
  indices <- lapply(split(found$runs, found$runs$measurement), outcome_index)
  logs <- function(clock, rows) Map(function(cell, arm) log(outcomes_at(indices[[clock]], cell, arm)), rows$cell, rows$arm)
  parts <- split(table, list(factor(table$arm, unique(table$arm)), table$dice), drop = TRUE)
  rows <- lapply(parts, function(part) {
    groups <- c(logs(VIRTUAL, part), logs(REAL, part))
    weights <- rep(c(1, -1) / nrow(part), each = nrow(part))
    interval <- student_interval(groups, weights, found$study$comparison$confidence)
    data.table::data.table(
      arm = part$arm[1], dice = part$dice[1], cells = nrow(part), explained = sum(part$verdict == EXPLAINED),
      left_over = sum(part$verdict == LEFT_OVER), undecided = sum(part$verdict == UNDECIDED),
      difference_percent = 100 * (1 - exp(sum(weights * vapply(groups, mean, 0)))),
      low = 100 * (1 - exp(interval[2])), high = 100 * (1 - exp(interval[1])),
      processor_percent = mean(part$processor_percent), packets_percent = mean(part$packets_percent)
    )
  })
  pooled <- data.table::rbindlist(rows)
  pooled$verdict <- clock_verdict(pooled$low, pooled$high, pooled$processor_percent)
  pooled
}

#' Median of a value over the loads that finished, for each row's cell and arm; NA where none has it.
medians_of <- function(runs, values, rows) {
  done <- runs$status == "ok" & !is.na(values)
  medians <- vapply(split(values[done], outcome_key(runs$cell, runs$arm)[done]), stats::median, 0)
  unname(medians[outcome_key(rows$cell, rows$arm)])
}

#' What a comparison of the clocks says, in words: all, each arm, then the cells that are not explained, the most first.
#'
#' @param table,pooled as from `compare_clocks`, `pool_clocks`
clocks_lines <- function(table, pooled) {
  counted <- function(verdict) sum(table$verdict == verdict)
  rest <- pick(table, table$verdict != EXPLAINED)
  rest <- pick(rest, order(rest$dice, -abs(rest$left_over_percent)))
  c(
    sprintf(
      "%d cells and arms: %d explained by the processor within %g %%, %d not, %d undecided", nrow(table), counted(EXPLAINED),
      100 * LEFT_OVER_SHARE, counted(LEFT_OVER), counted(UNDECIDED)
    ),
    sprintf("%s, %d cells %s dice: %s", pooled$arm, pooled$cells, ifelse(pooled$dice, "with", "without"), clock_text_of(pooled)),
    sprintf("%s, %s: %s", rest$cell, rest$arm, clock_text_of(rest))[seq_len(nrow(rest))]
  )
}

#' A difference in words.
clock_text_of <- function(rows) {
  sprintf(
    "%s: real time is %+.1f %% longer (%.1f to %.1f), the processor %.1f %%, packets %+.1f %%", rows$verdict,
    rows$difference_percent, rows$low, rows$high, rows$processor_percent, rows$packets_percent
  )
}
