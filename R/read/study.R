# The resolved study (docs/formats.md, section 8) as tables.

uses("base/errors", "base/files")

#' Read a resolved study.
#'
#' @param path JSON file
#' @return the study as nested lists with the defaults of `comparison` filled in, and the tables
#'   `factor_table` (factor, label, unit, level, value, level_label, position),
#'   `design` (cell, one column per factor with the level's value: every combination of levels),
#'   `planned` (names of the cells at this scale), `arm_table` (arm, label, group),
#'   `excluded` (cell, arm, why, left_out: not applicable, or left out by the scale alone),
#'   `exact` (names of the cells in which chance has no part)
read_study <- function(path) {
  study <- read_json_file(path)
  missing <- setdiff(c("study", "factors", "cells", "arms", "comparison"), names(study))
  if (length(missing) > 0L) fail(path, sprintf("has no '%s'", missing[1]), "See config/schemas/resolved_study.schema.json")
  study$comparison <- complete_comparison(study$comparison)
  study$factor_table <- factor_levels(study$factors)
  study$design <- design_table(study$factors)
  study$planned <- vapply(study$cells, `[[`, "", "name")
  study$arm_table <- arm_table(study)
  study$excluded <- excluded_table(study$cells)
  study$exact <- study$planned[vapply(study$cells, function(cell) isTRUE(cell$exact), TRUE)]
  study$figures <- lapply(study$figures, expand_arms, study$arm_table$arm)
  study
}

#' A figure with the names of the arms that its `arms: all` means.
expand_arms <- function(figure, known) {
  if (identical(as.character(unlist(figure$arms)), "all")) figure$arms <- as.list(known)
  figure
}

#' Fill in what a study file may leave out of `comparison`.
complete_comparison <- function(comparison) {
  comparison$arms <- as.character(unlist(comparison$arms))
  comparison$metric <- utils::modifyList(
    list(column = "plt_s", label = "Page load time", short = "PLT", unit = "s", better = "lower"),
    as.list(comparison$metric)
  )
  comparison$rule <- utils::modifyList(list(share = 0.7, margin = 0.1, comparisons = "all"), as.list(comparison$rule))
  # "At least 10 % higher" is what "at least 9.1 % lower" is for the reciprocal.
  margin <- comparison$rule$margin
  comparison$rule$cost_margin <- if (comparison$metric$better == "higher") margin / (1 + margin) else margin
  defaults <- list(design = "paired", confidence = 0.95, resamples = 1000L, adjust = "holm")
  comparison <- utils::modifyList(defaults, comparison)
  check_choice("comparison.adjust", comparison$adjust, names(ADJUSTMENTS))
  check_choice("comparison.design", comparison$design, c("paired", "independent"))
  check_choice("comparison.metric.better", comparison$metric$better, c("lower", "higher"))
  if (comparison$rule$comparisons == "paired" && comparison$design != "paired") {
    fail("comparison.rule.comparisons", "is 'paired' in a design that is not", "Set comparison.design to paired, or this to all")
  }
  pairs <- matrix(as.character(unlist(comparison$pairs)), ncol = 2L, byrow = TRUE)
  comparison$pair_table <- data.table::data.table(a = pairs[, 1], b = pairs[, 2])
  comparison
}

check_choice <- function(key, value, known) {
  if (!value %in% known) fail(key, sprintf("is '%s'", value), paste("Known:", phrase(known)))
}

#' Number of a level as text with its unit: `10 Mbit/s`, `2 %`, `large`.
level_text <- function(value, unit) {
  trimws(paste(format(value, trim = TRUE), if (is.null(unit)) "" else unit))
}

#' The table of levels of a study without factors.
empty_factor_table <- function() {
  data.table::data.table(
    factor = character(), label = character(), unit = character(), level = character(), value = character(),
    level_label = character(), position = integer()
  )
}

#' One row per level of each factor.
factor_levels <- function(factors) {
  data.table::rbindlist(lapply(factors, function(factor) {
    data.table::rbindlist(lapply(seq_along(factor$levels), function(i) {
      level <- factor$levels[[i]]
      value <- level_value(level)
      data.table::data.table(
        factor = factor$name, label = factor$label %||% factor$name, unit = factor$unit %||% "",
        level = level$name, value = as.character(value),
        level_label = level$label %||% level_text(value, factor$unit), position = i
      )
    }))
  }))
}

#' Value of a level as it stands in the tables: its number, or its name where it is not a number.
level_value <- function(level) {
  if (is.numeric(level$value)) level$value else level$name
}

#' All combinations of levels, named as the cells are.
design_table <- function(factors) {
  values <- lapply(factors, function(factor) unlist(lapply(factor$levels, level_value)))
  names(values) <- vapply(factors, `[[`, "", "name")
  levels <- lapply(factors, function(factor) vapply(factor$levels, `[[`, "", "name"))
  # The last factor varies fastest, as in the order of the cells in the study.
  design <- do.call(data.table::CJ, c(values, sorted = FALSE))
  names <- do.call(data.table::CJ, c(stats::setNames(levels, names(values)), sorted = FALSE))
  cell <- do.call(paste, c(as.list(names), sep = "-"))
  data.table::data.table(cell = cell, design)
}

#' Names, labels and groups of all arms that the study measures or compares.
arm_table <- function(study) {
  arms <- data.table::rbindlist(lapply(study$arms, function(arm) {
    data.table::data.table(arm = arm$name, label = arm$label %||% arm$name, group = arm$group %||% arm$name)
  }))
  compared <- unique(c(study$comparison$arms, unlist(study$comparison$pair_table)))
  others <- setdiff(compared, arms$arm)
  data.table::rbindlist(list(arms, data.table::data.table(arm = others, label = others, group = others)))
}

#' Cells in which an arm is not applicable, and why.
excluded_table <- function(cells) {
  rows <- lapply(cells, function(cell) {
    data.table::rbindlist(lapply(cell$not_applicable, function(entry) {
      data.table::data.table(cell = cell$name, arm = entry$arm, why = entry$why, left_out = isTRUE(entry$left_out))
    }))
  })
  empty <- data.table::data.table(cell = character(), arm = character(), why = character(), left_out = logical())
  data.table::rbindlist(c(list(empty), rows))
}

#' Names of the factors in the order of the study.
factor_names <- function(study) unique(study$factor_table$factor)

#' Methods that a study may choose, with the name that readers know.
ADJUSTMENTS <- c(holm = "Holm", bh = "Benjamini and Hochberg")
