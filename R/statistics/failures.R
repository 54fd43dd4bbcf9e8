uses("base/tables", "read/censoring", "read/runs", "read/states", "statistics/resampling")

#' Loads that are not ok, counted by cell, arm, status and reason.
#'
#' @param runs as from `read_runs`
#' @return data.table: cell, arm, status, reason, n, of (rows of that cell and arm)
failure_table <- function(runs) {
  all <- table(outcome_key(runs$cell, runs$arm))
  bad <- pick(runs, runs$status != "ok")
  if (nrow(bad) == 0L) {
    return(data.table::data.table(
      cell = character(), arm = character(), status = character(), reason = character(), n = integer(), of = integer()
    ))
  }
  reason <- ifelse(is.na(bad$reason), "", bad$reason)
  counted <- stats::aggregate(list(n = rep(1L, nrow(bad))), list(
    cell = bad$cell, arm = bad$arm, status = bad$status, reason = reason
  ), sum)
  counted$of <- as.integer(all[outcome_key(counted$cell, counted$arm)])
  data.table::as.data.table(pick(counted, order(counted$cell, counted$arm, counted$status, counted$reason)))
}

#' What the design asks for and the table does not have.
#'
#' @return data.table: cell, arm, state (`not measured`, `not applicable`), why
missing_table <- function(runs, study, arms = study$arm_table$arm) {
  grid <- data.table::CJ(cell = study$design$cell, arm = arms, sorted = FALSE)
  have <- outcome_key(grid$cell, grid$arm) %in% outcome_key(runs$cell, runs$arm)
  grid <- pick(grid, !have)
  row <- match(outcome_key(grid$cell, grid$arm), outcome_key(study$excluded$cell, study$excluded$arm))
  grid$state <- ifelse(is.na(row), NOT_MEASURED, "not applicable")
  grid$why <- ifelse(is.na(row), "", study$excluded$why[row])
  grid
}

#' The loads that finished.
finished_runs <- function(runs) pick(runs, !is.na(runs$value) & !is_unfinished(runs$value))

#' Drift: each finished load relative to the geometric mean of its cell and arm, and when it was measured.
#'
#' @return data.table: cell, arm, block, repetition, session, position (`hours` since the first load where
#'   `started` is known, otherwise the row's number in block order), relative (value / mean)
drift_table <- function(runs) {
  finished <- finished_runs(runs)
  # Relative to the geometric mean: of three loads one is the median itself, and would hide any drift.
  middle <- exp(stats::ave(log(finished$value), finished$cell, finished$arm))
  started <- if ("started" %in% names(finished)) as.numeric(finished$started) else rep(NA_real_, nrow(finished))
  timed <- nrow(finished) > 0L && !anyNA(started)
  position <- if (timed) {
    (started - min(started)) / 3600
  } else {
    order(order(finished$block, finished$repetition, finished$cell, finished$order))
  }
  table <- finished[, c("cell", "arm", "block", "repetition", "session"), with = FALSE]
  table$position <- position
  table$relative <- finished$value / middle
  data.table::setattr(table, "timed", timed)
  table
}

#' Sessions: how far the median of one session lies from that of all, over cells and arms.
#'
#' @return data.table, one row per session (of a machine): session (empty: not stated), n, groups (cells and arms with another session too),
#'   ratio (median over these groups of session median / overall median)
session_table <- function(runs) {
  finished <- finished_runs(runs)
  key <- outcome_key(finished$cell, finished$arm)
  overall <- stats::ave(finished$value, key, FUN = censored_median)
  sessions <- stats::ave(as.integer(factor(finished$session_of)), key, FUN = function(x) length(unique(x)))
  rows <- lapply(sort(unique(finished$session_of)), function(session) {
    here <- which(finished$session_of == session)
    shared <- here[sessions[here] > 1L]
    ratios <- vapply(split(shared, key[shared]), function(rows) {
      censored_median(finished$value[rows]) / overall[rows[1]]
    }, 0)
    list(session = session, n = length(here), groups = length(ratios), ratio = censored_median(unname(ratios)))
  })
  none <- data.table::data.table(session = character(), n = integer(), groups = integer(), ratio = numeric())
  data.table::rbindlist(c(list(none), rows))
}
