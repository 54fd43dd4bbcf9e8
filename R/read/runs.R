# The tidy table of runs (docs/formats.md, section 6).

uses(
  "base/csv", "base/errors", "base/files", "base/tables", "read/blocking", "read/censoring", "read/clocks", "read/selection",
  "read/study"
)

#' Columns every table of runs must have, from the schema, the factors and the metric of the study.
required_columns <- function(study, schema) {
  fixed <- as.character(unlist(schema$required))
  unique(c(setdiff(fixed, "plt_s"), study$comparison$metric$column, factor_names(study)))
}

#' Read tables of runs and check them against the study.
#'
#' @param paths CSV files; none means no runs
#' @param study resolved study
#' @param schema the JSON schema of the table as nested lists
#' @return data.table, one row per cell, arm and repetition; all columns of the files, and
#'   `value`: the study's metric, the worst one for a failed or timed-out load (censored: `Inf` where lower is better,
#'   0 where higher is), `NA` for an invalid one and where too many were invalid (`is_left_out`); `bound`: the same with
#'   the timeout for those that did not finish, the least they can have taken (NA: not known); `pair`: what the loads that
#'   belong together have in common, the repetition and, in merged tables, machine and session; `session_of`, `block_of`:
#'   the blocking factors; `certain`: chance had no part in the load
read_runs <- function(paths, study, schema = runs_schema()) {
  # A figure of cells that are not measured at this scale has no table at all.
  if (length(paths) == 0L) {
    return(add_outcome(empty_runs(study, schema), study))
  }
  runs <- data.table::rbindlist(lapply(paths, read_runs_file, study, schema), use.names = TRUE, fill = TRUE)
  if (nrow(runs) == 0L) {
    return(add_outcome(runs, study))
  }
  runs <- pick(runs, runs$study == study$study)
  where <- paste(basename(paths), collapse = ", ")
  if (nrow(runs) == 0L) {
    fail(where, sprintf("has no row of the study '%s'", study$study), "Check the column 'study' and the file's name")
  }
  check_cells(runs, study, where)
  runs <- unusable_as_invalid(runs, study)
  check_values(runs, study, where)
  known <- runs$arm %in% study$arm_table$arm
  if (!all(known)) remark("%s: arms that the study does not have are left out: %s", where, phrase(unique(runs$arm[!known])))
  runs <- runs[known, ]
  if (nrow(runs) == 0L) fail(where, "has no arm of the study", paste("Arms of this study:", phrase(study$arm_table$arm)))
  add_outcome(runs, study)
}

#' A table of runs without rows.
empty_runs <- function(study, schema) {
  columns <- required_columns(study, schema)
  kinds <- stats::setNames(rep(list(numeric()), length(columns)), columns)
  kinds[intersect(columns, TEXT_COLUMNS)] <- list(character())
  data.table::as.data.table(kinds)
}

TEXT_COLUMNS <- c("study", "cell", "arm", "session", "status", "reason")

#' The schema of the runs table as shipped with the project.
runs_schema <- function() {
  read_json_file(file.path(PROJECT_ROOT, "config", "schemas", "runs.schema.json"))
}

read_runs_file <- function(path, study, schema) {
  if (!file.exists(path)) fail(path, "no such file", "Give the path of a CSV file with the columns of docs/formats.md, section 6")
  if (file.size(path) == 0) fail(path, "is empty", "A table needs a header line with the columns of docs/formats.md, section 6")
  missing <- setdiff(required_columns(study, schema), csv_header(path))
  if (length(missing) > 0L) {
    fail(
      path, sprintf("has no column %s", phrase(paste0("'", missing, "'"), 20L)),
      "The required columns are listed in config/schemas/runs.schema.json; add them (empty fields mean 'not known')"
    )
  }
  read_csv_file(path, TEXT_COLUMNS)
}

#' Cells must exist, and the factor columns must say what the cell's name says.
check_cells <- function(runs, study, where) {
  unknown <- setdiff(runs$cell, study$design$cell)
  if (length(unknown) > 0L) {
    fail(where, sprintf("the study has no cell '%s'", unknown[1]), nearest(unknown[1], study$design$cell))
  }
  design <- pick(study$design, match(runs$cell, study$design$cell))
  for (name in factor_names(study)) {
    wrong <- which(is.na(runs[[name]]) | as.character(runs[[name]]) != as.character(design[[name]]))
    if (length(wrong) > 0L) {
      row <- wrong[1]
      fail(
        where, sprintf("column '%s' says '%s' in cell '%s'", name, runs[[name]][row], runs$cell[row]),
        sprintf("It must be '%s' there", design[[name]][row])
      )
    }
  }
}

#' A load of which extraction says why it has not the metric (of a capture that cannot be used, say) is invalid; where no
#' load has the metric, it is the table that is wrong, which check_values says.
unusable_as_invalid <- function(runs, study) {
  column <- study$comparison$metric$column
  lost <- runs$status == "ok" & is.na(runs[[column]]) & !is.na(runs[["extract_note"]] %||% NA)
  if (!any(lost) || all(is.na(runs[[column]]))) {
    return(runs)
  }
  runs$reason[lost] <- sprintf("no %s: %s", column, runs$extract_note[lost])
  runs$status[lost] <- "invalid"
  runs
}

#' Status, metric and keys must be sound.
check_values <- function(runs, study, where) {
  statuses <- c("ok", "failed", "timeout", "invalid")
  wrong <- setdiff(runs$status, statuses)
  if (length(wrong) > 0L) fail(where, sprintf("column 'status' holds '%s'", wrong[1]), paste("Known:", phrase(statuses)))
  column <- study$comparison$metric$column
  metric <- runs[[column]]
  if (!is.numeric(metric) && !all(is.na(metric))) {
    fail(where, sprintf("column '%s' is not a number everywhere", column), "Correct the table")
  }
  wrong <- which(runs$status == "ok" & (is.na(metric) | metric <= 0))
  if (length(wrong) > 0L) {
    fail(
      where, sprintf("column '%s' is empty or not positive in an ok row (%s, %s)", column, runs$cell[wrong[1]], runs$arm[wrong[1]]),
      "An ok row needs the metric; otherwise set the status to failed, timeout or invalid"
    )
  }
  check_repetitions(runs, where)
}

#' A load has its own number among those of its arm, cell, session and machine.
check_repetitions <- function(runs, where) {
  twice <- anyDuplicated(runs, by = intersect(c("cell", "arm", "repetition", "session", "machine"), names(runs)))
  if (twice == 0L) {
    return(invisible())
  }
  remedy <- if (anyDuplicated(runs) > 0L) {
    "The same row is there twice: give each table once"
  } else {
    paste(
      "Number the loads of an arm in a cell through in 'repetition'; those of several days need different names in 'session',",
      "those of several machines in 'machine'"
    )
  }
  fail(where, sprintf("holds repetition %s of %s in %s twice", runs$repetition[twice], runs$arm[twice], runs$cell[twice]), remedy)
}

#' Add what the statistics work on: `value`, `bound`, `certain`, `pair`, `session_of` and `block_of`.
add_outcome <- function(runs, study) {
  runs <- data.table::copy(runs)
  metric <- study$comparison$metric
  value <- as.numeric(runs[[metric$column]])
  unfinished <- runs$status %in% c("failed", "timeout")
  value[unfinished] <- worst_outcome(metric)
  value[runs$status == "invalid" | is_left_out(runs)] <- NA
  data.table::set(runs, j = "value", value = value)
  data.table::set(runs, j = "bound", value = ifelse(unfinished, bound_of_unfinished(runs, study), value))
  data.table::set(runs, j = "certain", value = leaves_nothing_to_chance(runs, study))
  add_blocks(runs)
  data.table::setorderv(runs, c("cell", "arm", "repetition"))
  runs
}

#' Which rows are of loads that chance had no part in: their cell, in virtual time, has no dice, and the seeds of the
#' programs' own make no difference.
leaves_nothing_to_chance <- function(runs, study) {
  agree <- function(values) {
    length(values) >= CERTAIN_LOADS && all(is.finite(values)) && max(values) <= min(values) * (1 + EXACT_TOLERANCE)
  }
  candidates <- which(is_virtual(runs) & runs$cell %in% study$exact & !is.na(runs$value))
  key <- outcome_key(runs$cell, runs$arm)[candidates]
  certain <- rep(FALSE, nrow(runs))
  certain[candidates] <- stats::ave(runs$value[candidates], key, FUN = agree) == 1
  certain
}

# Of two values that a program chooses between, three loads show both in three of four cases.
CERTAIN_LOADS <- 3L
# Seeds change lengths of signatures and identifiers, and with them times by less than this share.
EXACT_TOLERANCE <- 1e-3

#' Which rows are of an arm that was invalid in more than `MOST_INVALID` of its loads in a cell.
#'
#' What disturbs is a larger part of a short load than of a long one, so that the loads that stay valid are the long
#' ones: few of them say nothing of the arm.
is_left_out <- function(runs) {
  stats::ave(as.numeric(runs$status == "invalid"), outcome_key(runs$cell, runs$arm)) > MOST_INVALID
}

MOST_INVALID <- 1 / 3

#' Outcomes of one arm in one cell, in the order of the repetitions.
#'
#' @return numeric vector named by `pair`; invalid repetitions are left out
outcomes <- function(runs, cell, arm) {
  rows <- which(runs$cell == cell & runs$arm == arm & !is.na(runs$value))
  stats::setNames(runs$value[rows], runs$pair[rows])
}

#' All outcomes as a list of vectors, looked up by `outcome_key(cell, arm)`; their sessions and blocks, and which of them are
#' certain, are attributes.
#'
#' Splitting once is what makes a study of 100,000 rows a matter of seconds.
outcome_index <- function(runs) {
  valid <- pick(runs, !is.na(runs$value))
  key <- outcome_key(valid$cell, valid$arm)
  index <- split(stats::setNames(valid$value, valid$pair), key)
  strata <- lapply(list(session = valid$session_of, block = valid$block_of), function(labels) {
    split(stats::setNames(labels, valid$pair), key)
  })
  structure(index, strata = strata, certain = setdiff(key, key[!valid$certain]))
}

outcome_key <- function(cell, arm) paste(cell, arm, sep = "\t")

#' Look up outcomes; an empty vector where nothing was measured.
outcomes_at <- function(index, cell, arm) {
  values <- index[[outcome_key(cell, arm)]]
  if (is.null(values)) stats::setNames(numeric(), character()) else values
}

#' Are these outcomes all there is to know, since chance had no part in them?
is_certain <- function(index, cell, arm) outcome_key(cell, arm) %in% attr(index, "certain")

#' Blocking labels of these outcomes, named as they are.
#'
#' @param level `session` or `block`
strata_at <- function(index, cell, arm, level) {
  labels <- attr(index, "strata")[[level]][[outcome_key(cell, arm)]]
  if (is.null(labels)) stats::setNames(character(), character()) else labels
}
