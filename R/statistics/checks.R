# Checks of what the statistics take for granted: one mode, no drift over the measurement, sessions alike.

uses("base/tables", "read/selection", "statistics/adjust", "statistics/comparisons", "statistics/failures")

# Fewer loads have no shape.
SMALLEST_SHAPE <- 4L

#' Check every cell and arm for several modes, drift and differences between sessions.
#'
#' Modes: Hartigan's dip test (Ann. Stat. 13, 1985) on the logarithm, by `diptest`. Drift: Kendall's rank correlation of the
#' outcome with the order of measurement, with Theil and Sen's slope. Sessions: Kruskal and Wallis, by `coin`. Each kind is one
#' family over all cells and arms, corrected as the study says.
#'
#' @param runs as from `read_runs`
#' @return data.table, one row per cell and arm: cell, arm, n (finished), dip, p_modes, tau, drift_percent (change from the first
#'   to the last load, of the median), p_drift, sessions, p_session, then p_…_adjusted, several_modes, drifts, sessions_differ
check_runs <- function(runs, study) {
  finished <- finished_runs(runs)
  finished <- pick(finished, measurement_order(finished))
  groups <- split(seq_len(nrow(finished)), row_key(finished, c("cell", "arm")))
  table <- data.table::rbindlist(c(list(empty_checks()), lapply(groups, function(rows) check_group(finished[rows, ]))))
  table <- pick(table, order(match(table$cell, study$design$cell), match(table$arm, study$arm_table$arm)))
  for (check in c("modes", "drift", "session")) {
    adjusted <- adjust_p(table[[paste0("p_", check)]], study$comparison$adjust)
    data.table::set(table, j = paste0("p_", check, "_adjusted"), value = adjusted)
    data.table::set(table, j = CHECK_FLAGS[[check]], value = is_significant(adjusted, study$comparison))
  }
  table
}

CHECK_FLAGS <- c(modes = "several_modes", drift = "drifts", session = "sessions_differ")

empty_checks <- function() {
  data.table::data.table(
    cell = character(), arm = character(), n = integer(), dip = numeric(), p_modes = numeric(), tau = numeric(),
    drift_percent = numeric(), p_drift = numeric(), sessions = integer(), p_session = numeric()
  )
}

#' Row numbers in the order of measurement: by the clock, or by session, block and repetition where it is not known.
measurement_order <- function(runs) {
  started <- if ("started" %in% names(runs)) as.numeric(runs$started) else rep(NA_real_, nrow(runs))
  if (anyNA(started)) started <- rep(0, nrow(runs))
  order(started, runs$session_of, runs$block, runs$repetition, runs$order)
}

check_group <- function(rows) {
  values <- rows$value
  modes <- dip_test(values)
  drift <- drift_test(values)
  sessions <- length(unique(rows$session_of))
  list(
    cell = rows$cell[1], arm = rows$arm[1], n = length(values), dip = modes[1], p_modes = modes[2], tau = drift[1],
    drift_percent = drift[2], p_drift = drift[3], sessions = sessions,
    p_session = if (sessions > 1L) kruskal_p(values, rows$session_of) else NA_real_
  )
}

#' Dip statistic and p-value that the distribution has one mode.
dip_test <- function(values) {
  if (length(values) < SMALLEST_SHAPE) {
    return(c(NA_real_, NA_real_))
  }
  if (length(unique(values)) == 1L) {
    return(c(0, 1))
  }
  # Its table for small n has equal quantiles, which interpolation warns of and which do no harm.
  found <- suppressWarnings(diptest::dip.test(log(values)))
  c(found$statistic[[1]], found$p.value)
}

#' Kendall's tau of values with their order, Theil and Sen's drift in percent of the median, and the p-value of no drift.
drift_test <- function(values) {
  n <- length(values)
  if (n < SMALLEST_SHAPE) {
    return(c(NA_real_, NA_real_, NA_real_))
  }
  if (length(unique(values)) == 1L) {
    return(c(0, 0, 1))
  }
  time <- seq_len(n)
  exact <- !anyDuplicated(values) && n < 50L
  found <- stats::cor.test(time, values, method = "kendall", exact = exact, continuity = !exact)
  steps <- outer(values, values, "-") / outer(time, time, "-")
  slope <- stats::median(steps[lower.tri(steps)])
  c(found$estimate[[1]], 100 * slope * (n - 1) / stats::median(values), found$p.value)
}
