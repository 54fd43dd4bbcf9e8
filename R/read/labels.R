# Names for readers: arms, levels, cells, winners and columns in words.

uses("base/tables", "read/states", "read/study")

#' Label of arms for readers.
arm_label <- function(study, arms) {
  table <- study$arm_table
  ifelse(arms %in% table$arm, table$label[match(arms, table$arm)], arms)
}

#' A column of values of one factor as a factor of level labels, in the order of the study.
level_labels <- function(study, factor, values) {
  known <- pick(study$factor_table, study$factor_table$factor == factor)
  factor(known$level_label[match(as.character(values), known$value)], levels = known$level_label)
}

#' A cell in words: `10 Mbit/s, 18 ms, 2 %, 50, large`, with the factor's label where the number alone says little.
cell_title <- function(study, cells, factors = factor_names(study)) {
  rows <- pick(study$design, match(cells, study$design$cell))
  parts <- lapply(factors, function(name) {
    label <- study$factor_table$label[match(name, study$factor_table$factor)]
    text <- as.character(level_labels(study, name, rows[[name]]))
    if (name == factor_names(study)[1]) text else paste(tolower_first(label), text)
  })
  do.call(paste, c(parts, sep = ", "))
}

#' `Object size` as `object size`, `RTT` as it is.
tolower_first <- function(text) {
  ifelse(grepl("^[A-Z][a-z]", text), paste0(tolower(substr(text, 1, 1)), substring(text, 2)), text)
}

cell_title_long <- function(study, cells, factors) {
  rows <- pick(study$design, match(cells, study$design$cell))
  do.call(paste, c(lapply(factors, function(name) {
    label <- study$factor_table$label[match(name, study$factor_table$factor)]
    paste(label, level_labels(study, name, rows[[name]]))
  }), sep = ", "))
}

first_upper <- function(text) paste0(toupper(substr(text, 1, 1)), substring(text, 2))

#' Winners for readers: `HTTP/3 (quiche) + SPDY/3.1`, `no clear winner`.
winner_label <- function(study, winners) {
  vapply(winners, function(one) {
    if (one == TIE) {
      return("no clear winner")
    }
    if (one == NOT_MEASURED) {
      return(NOT_MEASURED)
    }
    paste(arm_label(study, strsplit(one, "+", fixed = TRUE)[[1]]), collapse = " + ")
  }, "", USE.NAMES = FALSE)
}

cell_count <- function(n) sprintf("%d %s", n, ifelse(n == 1L, "cell", "cells"))

#' What the better of two values of a metric is: faster for a time, higher for a rate.
comparative <- function(metric) {
  if (metric$better == "higher") "higher" else if (metric$unit == "s") "faster" else "lower"
}

#' Title and unit of an axis by the name of a column; bytes are shown in kB.
#'
#' @return list(title, divisor)
column_axis <- function(column) {
  if (column == "first_retransmitted_offset") {
    return(list(title = "Offset of the first retransmitted byte (kB)", divisor = 1000))
  }
  units <- c(bytes = "kB", s = "s", ms = "ms", mbit = "Mbit/s", percent = "%")
  suffix <- sub(".*_", "", column)
  unit <- if (grepl("_", column, fixed = TRUE)) units[suffix] else NA
  words <- gsub("_", " ", if (is.na(unit)) column else sub("_[^_]*$", "", column), fixed = TRUE)
  list(
    title = if (is.na(unit)) first_upper(words) else with_unit(first_upper(words), unname(unit)),
    divisor = if (!is.na(unit) && unit == "kB") 1000 else 1
  )
}

#' Axis title with its unit: `Page load time (s)`.
with_unit <- function(label, unit) {
  if (is.null(unit) || !nzchar(unit)) label else sprintf("%s (%s)", label, unit)
}

#' Numbers of three digits for readers.
format_signif <- function(values) {
  vapply(values, function(value) format(signif(value, 3), big.mark = " ", trim = TRUE, scientific = FALSE), "")
}
