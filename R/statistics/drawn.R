# Numbers that figures show and no other table of the statistics has, for whoever draws them elsewhere.

uses(
  "read/selection", "statistics/correlation", "statistics/medians", "statistics/own_comparisons",
  "statistics/pairings", "statistics/transfers", "figures/definition"
)

#' One table per sort of number, each with the name of the figure in `figure`.
#'
#' @param runs as from `read_runs`
#' @param data list(runs, details) of functions, as figures have it
#' @return list of data.tables, without rows where no figure shows such numbers:
#'   figure_medians (of figures with a metric of their own): figure, cell, arm, n, unfinished, median, low, high;
#'   figure_comparisons (of heatmaps that compare themselves): figure and the columns of `compare_pairs`;
#'   figure_correlations: figure, cell, arm, n, without (the column), rho, low, high, slope, intercept (least squares);
#'   figure_transfers (medians of one object's times): figure, cell, arm, n, start, first, end;
#'   figure_pairings (of servers and clients): figure, cell, arm, server, client, panel, state, median, text, reason
drawn_tables <- function(study, runs, data) {
  drawn <- Filter(function(figure) is_told(figure, runs), study$figures)
  table <- function(kinds, make, none) {
    rows <- lapply(Filter(function(figure) figure$kind %in% kinds, drawn), function(figure) {
      found <- make(figure, study, data)
      if (is.null(found) || nrow(found) == 0L) NULL else cbind(figure = figure$name, found)
    })
    found <- data.table::rbindlist(rows, fill = TRUE)
    if (nrow(found) == 0L) no_rows(none) else found
  }
  list(
    figure_medians = table(c("bars", "curves", "consistency"), figure_medians, "median"),
    figure_comparisons = table("heatmap", figure_comparisons, c("a", "b")),
    figure_correlations = table("scatter", figure_correlations, "rho"),
    figure_transfers = table("transfer", figure_transfers, "end"),
    figure_pairings = table("matrix", figure_pairings, "state")
  )
}

#' Does the table of runs have what the figure is about? Somebody else's need not.
is_told <- function(figure, runs) all(c(figure$metric$column, if (figure$kind == "scatter") figure$x) %in% names(runs))

no_rows <- function(columns) {
  names <- c("figure", "cell", columns)
  data.table::as.data.table(stats::setNames(rep(list(character()), length(names)), names))
}

figure_cells <- function(figure, study) select_cells(study, figure$cells, figure_place(figure))$cell

figure_medians <- function(figure, study, data) {
  if (is.null(figure$metric)) {
    return(NULL)
  }
  chosen <- metric_of_figure(figure, study, data$runs())
  arms <- figure_arms(figure, study$comparison$arms)
  table <- medians_of_figure(figure, chosen$study, chosen$runs, figure_cells(figure, study), arms, open = TRUE)
  table[, c("cell", "arm", "n", "unfinished", "median", "low", "high"), with = FALSE]
}

figure_comparisons <- function(figure, study, data) {
  if (compares_itself(figure, study)) own_comparisons(figure, study, data$runs())
}

figure_correlations <- function(figure, study, data) {
  chosen <- metric_of_figure(figure, study, data$runs())
  grid <- data.table::CJ(
    cell = figure_cells(figure, study), arm = figure_arms(figure, study$comparison$arms), sorted = FALSE
  )
  rows <- lapply(seq_len(nrow(grid)), function(i) {
    loads <- paired_columns(chosen$runs, grid$cell[i], grid$arm[i], figure$x)
    found <- arm_correlation(loads, chosen$study, grid$cell[i], grid$arm[i], figure$x)
    line <- least_squares(loads$x, loads$y)
    list(
      n = found$n, without = loads$without, rho = found$value, low = found$interval[1], high = found$interval[2],
      slope = line[["slope"]], intercept = line[["intercept"]]
    )
  })
  cbind(grid, data.table::rbindlist(rows))
}

figure_transfers <- function(figure, study, data) {
  transfer_times(object_rows(figure, study, data, figure_arms(figure, study$comparison$arms)))
}

figure_pairings <- function(figure, study, data) {
  chosen <- metric_of_figure(figure, study, data$runs())
  arms <- figure_arms(figure, unique(study$arm_table$arm))
  tiles <- speaking_tiles(matrix_tiles(chosen$study, chosen$runs, figure_cells(figure, study), arms))
  tiles[, c("cell", "arm", "server", "client", "panel", "state", "median", "text", "reason"), with = FALSE]
}
