# Figures of single loads: their rows of the tables of details, and what those do not hold.

uses("read/labels", "read/selection", "figures/absent", "figures/definition", "figures/theme")

#' A figure for which there is no detail, with the reason.
no_detail_figure <- function(figure, study, data, arms) {
  cells <- select_cells(study, figure$cells, figure_place(figure))$cell
  absent <- absent_text(data$runs(), study, cells, arms)
  text <- if (nzchar(absent)) absent else "The tables of runs lie without the tables of single loads that this figure shows."
  sized(empty_figure(text), height = 30)
}

#' What is missing of a figure of details, and which load is shown.
detail_key <- function(figure, study, data, arms, rows) {
  cells <- select_cells(study, figure$cells, figure_place(figure))$cell
  c(
    if (length(unique(rows$repetition)) == 1L) sprintf("Repetition %s of each arm.", rows$repetition[1]),
    absent_text(data$runs(), study, cells, arms)
  )
}

#' Labels of arms in the order of their factor, for panels.
arm_panels <- function(study, arms) {
  labels <- arm_label(study, levels(droplevels(arms)))
  factor(arm_label(study, as.character(arms)), levels = unique(labels))
}
