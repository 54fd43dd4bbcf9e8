uses(
  "base/errors", "read/labels", "read/selection", "statistics/transfers", "figures/absent", "figures/definition",
  "figures/details", "figures/panels", "figures/theme"
)

#' Draw start, first byte and end of one object's transfer, one panel per cell.
#'
#' @param figure list(path, cells, arms) as in the study file
#' @param data list(runs, details) of functions
draw_transfer <- function(figure, study, data) {
  if (is.null(figure$path)) fail(figure_place(figure), "has no 'path'", "Name the path of an object of the page")
  arms <- figure_arms(figure, study$comparison$arms)
  times <- transfer_times(object_rows(figure, study, data, arms))
  if (nrow(times) == 0L) {
    return(no_detail_figure(figure, study, data, arms))
  }
  cells <- levels(droplevels(times$cell))
  titles <- shown_cells(study, cells)
  times$panel <- factor(titles[match(times$cell, cells)], levels = unique(titles))
  times$arm <- factor(times$arm, levels = rev(arms))
  panels <- nlevels(times$panel)
  columns <- min(2L, panels)
  plot <- ggplot2::ggplot(times, ggplot2::aes(y = .data$arm)) +
    ggplot2::geom_segment(ggplot2::aes(x = .data$start, xend = .data$first, yend = .data$arm), linewidth = 0.5, colour = "grey45") +
    ggplot2::geom_segment(
      ggplot2::aes(x = .data$first, xend = .data$end, yend = .data$arm),
      linewidth = 2.6, colour = "grey55", lineend = "butt"
    ) +
    ggplot2::geom_point(ggplot2::aes(x = .data$start), shape = 1, size = 1.3) +
    ggplot2::geom_point(ggplot2::aes(x = .data$end), shape = 124, size = 3) +
    ggplot2::facet_wrap(ggplot2::vars(.data$panel), ncol = columns, scales = "free_x") +
    ggplot2::expand_limits(x = 0) +
    ggplot2::scale_y_discrete(labels = function(arms) arm_label(study, arms)) +
    ggplot2::labs(
      x = "Time since the start of the load (s)", y = NULL,
      caption = caption_text(c(
        sprintf("%s. Circle: request; thin: waiting; thick: first to last byte. Medians, n = %s %s.", figure$path,
                range_text(times$n), if (max(times$n) == 1L) "load" else "loads"),
        absent_text(data$runs(), study, select_cells(study, figure$cells, figure_place(figure))$cell, arms)
      ))
    ) +
    theme_study()
  sized(plot, width = FIGURE_WIDTH, height = panel_height(panels, columns, 5 * length(arms) + 16, 20))
}
