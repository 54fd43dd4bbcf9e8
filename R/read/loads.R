# Rows of the tables of single loads that a figure shows.

uses("base/tables", "read/selection", "figures/definition")

#' The rows of a figure: of its cells and arms, of loads that ended well.
#'
#' @param first keep only the first repetition of each cell and arm that is there
#' @return the rows with `panel_cell` (in words) and `arm` as a factor in the figure's order
details_of_figure <- function(figure, study, data, name, arms, first = TRUE) {
  cells <- select_cells(study, figure$cells, figure_place(figure))$cell
  rows <- data$details(name)
  rows <- pick(rows, rows$cell %in% cells & rows$arm %in% arms)
  runs <- data$runs()
  good <- pick(runs, runs$status == "ok")
  rows <- pick(rows, load_key(rows) %in% load_key(good))
  if (first && nrow(rows) > 0L) {
    earliest <- stats::ave(as.numeric(rows$repetition), rows$cell, rows$arm, FUN = min)
    rows <- pick(rows, rows$repetition == earliest)
  }
  rows$cell <- factor(rows$cell, levels = cells)
  rows$arm <- factor(rows$arm, levels = arms)
  rows
}

load_key <- function(rows) paste(rows$cell, rows$arm, rows$repetition, sep = "\t")

#' One row per group: what `make` says of the rows of each combination of `by`, in the order of their first rows.
summarise_rows <- function(rows, by, make) {
  key <- row_key(rows, by)
  groups <- split(seq_len(nrow(rows)), factor(key, levels = unique(key)))
  data.table::rbindlist(lapply(groups, function(numbers) {
    own <- pick(rows, numbers)
    cbind(own[1L, by, with = FALSE], data.table::as.data.table(make(own)))
  }))
}
