# Several measurements of the same thing: two days, two machines, one job or eight at once, with and without captures, or
# one arm under two names. Which cells moved?

uses(
  "base/errors", "base/tables", "read/blocking", "read/runs", "read/states", "read/study",
  "statistics/comparisons", "statistics/resampling"
)

#' Read the measurements to compare.
#'
#' @param study resolved study
#' @param paths CSV files
#' @param by NULL: every file is a measurement; otherwise the column that tells them apart (`session`, `machine`, `arm`, …)
#' @param labels names for the files; NULL: their own
#' @return list(study, runs): runs as from `read_runs` with the column `measurement`, a factor in the order given
read_measurements <- function(study, paths, by = NULL, labels = NULL) {
  if (length(labels) > 0L && length(labels) != length(paths)) {
    fail("--labels", sprintf("gives %d names for %d tables", length(labels), length(paths)), "Give one name per --runs")
  }
  if (is.null(by)) {
    if (length(labels) == 0L) labels <- file_labels(paths)
    parts <- lapply(seq_along(paths), function(i) {
      runs <- read_runs(paths[i], study)
      runs$measurement <- labels[i]
      runs
    })
    runs <- data.table::rbindlist(parts, use.names = TRUE, fill = TRUE)
  } else {
    runs <- read_runs(paths, study)
    if (!by %in% names(runs)) fail("--by", sprintf("the tables have no column '%s'", by), "Name a column that tells the measurements apart")
    runs$measurement <- as.character(runs[[by]])
    labels <- sort(unique(runs$measurement))
  }
  runs$measurement <- factor(runs$measurement, levels = labels)
  list(study = study, runs = runs)
}

#' Names of files that tell them apart: the file's name, with as much of its folder as that takes.
file_labels <- function(paths) {
  parts <- strsplit(sub("[.]csv$", "", normalizePath(paths, mustWork = FALSE)), "/", fixed = TRUE)
  for (depth in seq_len(max(lengths(parts)))) {
    labels <- vapply(parts, function(part) paste(utils::tail(part, depth), collapse = "/"), "")
    if (!anyDuplicated(labels)) {
      return(labels)
    }
  }
  fail("--runs", "names one file twice", "Give two tables")
}

#' A study made from tables alone: their cells and arms, no factors.
study_of_tables <- function(paths) {
  absent <- paths[!file.exists(paths)]
  if (length(absent) > 0L) fail(absent[1], "no such file", "Give the path of a table of runs")
  names <- c("study", "cell", "arm")
  tables <- lapply(paths, function(path) {
    table <- data.table::fread(path, colClasses = "character")
    missing <- setdiff(names, names(table))
    if (length(missing) > 0L) fail(path, sprintf("has no column '%s'", missing[1]), "See docs/formats.md, section 6")
    table[, names, with = FALSE]
  })
  table <- data.table::rbindlist(tables)
  if (nrow(table) == 0L) fail("--runs", "hold no rows", "Give tables of finished runs")
  arms <- unique(table$arm)
  list(
    study = table$study[1], seed = 1L, factor_table = empty_factor_table(),
    comparison = complete_comparison(list(arms = arms, pairs = list(), rule = list())),
    design = data.table::data.table(cell = unique(table$cell)), planned = unique(table$cell),
    arm_table = data.table::data.table(arm = arms, label = arms, group = arms), excluded = excluded_table(list())
  )
}

#' Comparison of the first measurement with each other one, in every cell and arm.
#'
#' Equal repetitions have equal seeds and are pairs; where no repetition is in both, the loads are compared as two
#' samples. Machines within a measurement are blocks.
#'
#' @param runs as from `read_measurements`
#' @param study resolved study
#' @return data.table, one row per cell, arm and further measurement: cell, arm, reference, measurement, n_a … p as
#'   `compare_pairs` has them (a: the further measurement, b: the reference), difference_percent, p_adjusted (over all
#'   rows), adjustment, significant, state (`moved`, `unmoved`, `not measured`), tolerated (the whole interval of the ratio
#'   is within `TOLERANCE`; a difference can be both significant and tolerated, or neither)
compare_measurements <- function(runs, study) {
  labels <- levels(runs$measurement)
  if (length(labels) < 2L) fail("--runs", "is one measurement only", "Give two tables, or --by a column with two values")
  parts <- split(runs, runs$measurement)
  # Taken apart each measurement may name its pairs by the repetition alone, which is what they have in common.
  indices <- lapply(parts, function(part) {
    part <- data.table::copy(part)
    add_blocks(part)
    outcome_index(part)
  })
  cells <- intersect(study$design$cell, runs$cell)
  arms <- intersect(study$arm_table$arm, runs$arm)
  grid <- data.table::CJ(measurement = labels[-1], arm = arms, cell = cells, sorted = FALSE)
  grid$reference <- labels[1]
  rows <- lapply(seq_len(nrow(grid)), function(i) compare_row(as.list(grid[i, ]), indices, study))
  table <- cbind(grid[, c("cell", "arm", "reference", "measurement")], data.table::rbindlist(rows))
  table$difference_percent <- 100 * (table$ratio - 1)
  table <- judge_family(table, study$comparison)
  table$state <- ifelse(table$n_a == 0L | table$n_b == 0L, NOT_MEASURED, ifelse(table$significant, MOVED, UNMOVED))
  table$tolerated <- table$state != NOT_MEASURED & !is.na(table$low) & table$low >= 1 - TOLERANCE & table$high <= 1 + TOLERANCE
  table
}

MOVED <- "moved"
UNMOVED <- "unmoved"
# What the guard lets a valid load be off by: steal and lateness of the emulator's packets (docs/validity.md).
TOLERANCE <- 0.05

compare_row <- function(row, indices, study) {
  a <- sample_at(indices[[row$measurement]], row$cell, row$arm)
  b <- sample_at(indices[[row$reference]], row$cell, row$arm)
  comparison <- study$comparison
  if (length(intersect(names(a$values), names(b$values))) == 0L) comparison$design <- "independent"
  seed <- derive_seed(study$seed, row$cell, row$arm, row$measurement, "moved")
  compare_samples(a, b, comparison, seed)
}

#' One arm under two names, as two measurements of the first.
#'
#' @param arms two names
same_arm <- function(runs, study, arms) {
  unknown <- setdiff(arms, runs$arm)
  if (length(arms) != 2L) fail("--arms", sprintf("names %d arms", length(arms)), "Give two, separated by a comma")
  if (length(unknown) > 0L) fail("--arms", sprintf("no load is of '%s'", unknown[1]), paste("Arms:", phrase(unique(runs$arm))))
  runs <- pick(runs, runs$arm %in% arms)
  runs$measurement <- factor(runs$arm, levels = arms)
  runs$arm <- arms[1]
  runs
}

#' Which cells moved, in words.
moved_lines <- function(table, study) {
  known <- pick(table, table$state != NOT_MEASURED)
  moved <- pick(known, known$state == MOVED)
  c(
    sprintf("%d of %d cells and arms moved (%s over all, at %g %%)", nrow(moved), nrow(known),
            ADJUSTMENTS[[study$comparison$adjust]], 100 * (1 - study$comparison$confidence)),
    tolerated_text(known),
    sprintf(
      "%s, %s: %+.1f %% (%s against %s; p = %.2g)", moved$cell, moved$arm, moved$difference_percent, moved$measurement,
      moved$reference, moved$p_adjusted
    )[seq_len(nrow(moved))]
  )
}

#' How many intervals are within what the guard tolerates, in words.
tolerated_text <- function(known) {
  sprintf("%d of %d intervals lie within \u00b1 %g %%", sum(known$tolerated), nrow(known), 100 * TOLERANCE)
}

#' Another metric or correction than the study's, where the command line asks for it.
choose_comparison <- function(comparison, arguments) {
  if (!is.null(arguments$metric)) {
    comparison$metric <- list(column = arguments$metric, label = arguments$metric, short = arguments$metric, unit = "")
  }
  comparison$adjust <- arguments$adjust %||% comparison$adjust
  complete_comparison(comparison)
}
