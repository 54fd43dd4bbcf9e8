# Selections of cells, as figures and claims state them.

uses("base/errors", "base/tables", "read/study")

#' Cells that a selection means.
#'
#' @param study resolved study
#' @param selection NULL (all cells), a list of cell names, or a named list factor -> value(s) or level
#'   name(s); a factor that is not named is free
#' @param where what the selection belongs to, for the message
#' @return data.table of the rows of `study$design` selected, in the order in which the selection
#'   names the levels
select_cells <- function(study, selection, where = "selection") {
  design <- study$design
  if (length(selection) == 0L) {
    return(design)
  }
  if (is.null(names(selection))) {
    wanted <- as.character(unlist(selection))
    unknown <- setdiff(wanted, design$cell)
    if (length(unknown) > 0L) fail(where, sprintf("no cell is called '%s'", unknown[1]), nearest(unknown[1], design$cell))
    return(pick(design, match(wanted, design$cell)))
  }
  order <- list()
  keep <- rep(TRUE, nrow(design))
  for (name in names(selection)) {
    wanted <- selected_values(study, name, selection[[name]], where)
    position <- match(as.character(design[[name]]), wanted)
    keep <- keep & !is.na(position)
    order[[name]] <- position
  }
  rank <- do.call(base::order, c(unname(order), list(seq_len(nrow(design)))))
  pick(design, rank[keep[rank]])
}

#' Values (as text) that a selection names for one factor; numbers, texts and level names are accepted.
selected_values <- function(study, name, given, where) {
  known <- pick(study$factor_table, study$factor_table$factor == name)
  if (nrow(known) == 0L) {
    fail(where, sprintf("no factor is called '%s'", name), paste("Factors of this study:", phrase(factor_names(study))))
  }
  given <- as.character(unlist(given))
  row <- ifelse(is.na(match(given, known$value)), match(given, known$level), match(given, known$value))
  if (anyNA(row)) {
    fail(where, sprintf("factor '%s' has no level %s", name, given[is.na(row)][1]), paste("Its levels:", phrase(known$level)))
  }
  known$value[row]
}

#' The cell that differs from each given cell by some factors only.
#'
#' @param cells names of cells
#' @param change named list factor -> one value or level name
#' @return names of cells, same length
counterpart_cells <- function(study, cells, change, where = "against_cells") {
  rows <- data.table::copy(pick(study$design, match(cells, study$design$cell)))
  for (name in names(change)) {
    value <- selected_values(study, name, change[[name]], where)
    if (length(value) != 1L) fail(where, sprintf("gives %d levels of '%s'", length(value), name), "Give one")
    kind <- class(rows[[name]])
    data.table::set(rows, j = name, value = methods::as(rep(value, nrow(rows)), kind))
  }
  factors <- factor_names(study)
  study$design$cell[match(row_key(rows, factors), row_key(study$design, factors))]
}

#' One text per row of the given columns.
row_key <- function(table, columns) {
  do.call(paste, c(lapply(columns, function(name) as.character(table[[name]])), sep = "|"))
}

#' A remedy that names the most similar known names.
nearest <- function(name, known) {
  distance <- utils::adist(name, known)[1, ]
  sprintf("Did you mean %s", paste(utils::head(known[order(distance)], 2L), collapse = " or "))
}

#' Factors in which some cells differ.
varying_factors <- function(study, cells) {
  rows <- pick(study$design, match(cells, study$design$cell))
  Filter(function(name) length(unique(rows[[name]])) > 1L, factor_names(study))
}
