#' Draw a metric per arm as bars with intervals, one panel per cell.
#'
#' @param figure list(cells, arms, facet, metric) as in the study file
draw_bars <- function(figure, study, runs) {
  chosen <- metric_of_figure(figure, study, runs)
  study <- chosen$study
  cells <- select_cells(study, figure$cells, figure_place(figure))$cell
  arms <- figure_arms(figure, study$comparison$arms)
  table <- medians_of_figure(figure, study, chosen$runs, cells, arms)
  if (nrow(table) == 0L) {
    return(sized(empty_figure(absent_text(chosen$runs, study, cells, arms)), height = 30))
  }
  titles <- panel_titles(study, cells, figure$facet)
  table$panel <- factor(titles[match(table$cell, cells)], levels = unique(titles))
  table$arm <- factor(table$arm, levels = rev(arms))
  metric <- study$comparison$metric
  plot <- ggplot2::ggplot(table, ggplot2::aes(.data$median, .data$arm)) +
    ggplot2::geom_col(width = 0.68, fill = "grey75", colour = "grey30", linewidth = 0.25) +
    ggplot2::geom_errorbarh(ggplot2::aes(xmin = .data$low, xmax = .data$high), height = 0.25, linewidth = 0.4, na.rm = TRUE) +
    ggplot2::facet_wrap(ggplot2::vars(.data$panel), ncol = 2L, scales = "free_x", labeller = ggplot2::label_wrap_gen(40)) +
    ggplot2::scale_x_continuous(limits = c(0, NA), expand = ggplot2::expansion(c(0, 0.05))) +
    ggplot2::scale_y_discrete(labels = function(arms) arm_label(study, arms)) +
    ggplot2::labs(
      x = with_unit(metric$label, metric$unit), y = NULL, caption = caption_text(metric_key(table, study, chosen$runs, cells, arms))
    ) +
    theme_study()
  panels <- length(unique(table$panel))
  sized(plot, width = if (panels == 1L) 120 else 170, height = ceiling(panels / 2) * (5 * length(unique(table$arm)) + 20) + 16)
}
