# A metric per arm as bars.

uses(
  "base/errors", "read/labels", "read/processor", "read/selection", "read/study", "statistics/medians",
  "figures/absent", "figures/definition", "figures/metric", "figures/panels", "figures/processor", "figures/theme"
)

#' Draw a metric per arm as bars with intervals: one panel per cell, or the cells side by side at each arm.
#'
#' @param figure list(cells, arms, facet, x, metric) as in the study file; with `x` (a factor) the cells that differ stand side
#'   by side
draw_bars <- function(figure, study, data) {
  runs <- data$runs()
  chosen <- metric_of_figure(figure, study, runs)
  study <- chosen$study
  cells <- select_cells(study, figure$cells, figure_place(figure))$cell
  arms <- figure_arms(figure, study$comparison$arms)
  table <- medians_of_figure(figure, study, chosen$runs, cells, arms)
  if (nrow(table) == 0L) {
    return(sized(empty_figure(absent_text(chosen$runs, study, cells, arms)), height = 30))
  }
  table$mark <- ifelse(is_costly(processor_of_figure(data), table$cell, table$arm), COSTLY, "")
  groups <- bar_groups(figure, study, cells)
  table$panel <- factor(groups$panel[match(table$cell, cells)], levels = unique(groups$panel))
  table$bar <- factor(groups$bar[match(table$cell, cells)], levels = unique(groups$bar))
  table$arm <- factor(table$arm, levels = rev(arms))
  metric <- study$comparison$metric
  plot <- bar_plot(table, nlevels(table$bar)) +
    ggplot2::scale_y_discrete(labels = function(arms) arm_label(study, arms)) +
    ggplot2::labs(
      x = with_unit(metric$label, metric$unit), y = NULL, caption = caption_text(metric_key(table, study, chosen$runs, cells, arms))
    ) +
    theme_study() +
    ggplot2::theme(legend.key.height = grid::unit(3, "mm"))
  panels <- nlevels(table$panel)
  bars <- length(unique(table$arm)) * max(5, 3.2 * nlevels(table$bar))
  drawn <- sized(
    plot,
    width = if (panels == 1L) 130 else FIGURE_WIDTH, height = ceiling(panels / 2) * (bars + 20) + 18 + 3 * nlevels(table$bar)
  )
  c(drawn, list(marks = TRUE))
}

#' What tells the cells of a figure of bars apart: the panel, or the bar within the panel.
#'
#' @return list(panel, bar), texts by cell
bar_groups <- function(figure, study, cells) {
  if (is.null(figure$x)) {
    panel <- panel_titles(study, cells, figure$facet %||% varying_factors(study, cells))
    return(list(panel = panel, bar = rep("", length(cells))))
  }
  varying <- varying_factors(study, cells)
  facet <- as.character(unlist(figure$facet))
  beside <- union(intersect(figure$x, factor_names(study)), setdiff(varying, facet))
  if (!figure$x %in% beside) {
    fail(figure_place(figure), sprintf("no factor is called '%s'", figure$x), paste("Factors:", phrase(factor_names(study))))
  }
  panel <- if (length(facet) == 0L) rep("", length(cells)) else cell_title_long(study, cells, facet)
  list(panel = panel, bar = cell_title_long(study, cells, intersect(factor_names(study), beside)))
}

#' Bars from the darkest to the lightest, each with its number, so that they can be told apart without colour.
bar_plot <- function(table, bars) {
  beside <- ggplot2::position_dodge2(width = 0.8, preserve = "single", reverse = TRUE)
  shades <- if (bars == 1L) "grey75" else grDevices::grey(seq(0.35, 0.92, length.out = bars))
  table$number <- paste0(format_signif(table$median), table$mark)
  # Right of the interval, or of the bar where there is none.
  table$end <- ifelse(is.finite(table$high), pmax(table$high, table$median), table$median)
  ggplot2::ggplot(table, ggplot2::aes(.data$median, .data$arm, fill = .data$bar)) +
    ggplot2::geom_col(width = 0.78, colour = "grey25", linewidth = 0.25, position = beside) +
    ggplot2::geom_errorbar(
      ggplot2::aes(xmin = .data$low, xmax = .data$high),
      orientation = "y", width = 0.78, linewidth = 0.35, na.rm = TRUE, position = beside
    ) +
    ggplot2::geom_text(
      ggplot2::aes(x = .data$end, label = .data$number),
      hjust = -0.35, size = 2.1, family = FONT, position = ggplot2::position_dodge2(width = 0.78, preserve = "single", reverse = TRUE)
    ) +
    ggplot2::facet_wrap(ggplot2::vars(.data$panel), ncol = 2L, scales = "free_x", labeller = ggplot2::label_wrap_gen(40)) +
    ggplot2::scale_x_continuous(limits = c(0, NA), expand = ggplot2::expansion(c(0, 0.12))) +
    ggplot2::scale_fill_manual(values = shades, name = NULL, guide = if (bars == 1L) "none" else ggplot2::guide_legend(ncol = 1L))
}
