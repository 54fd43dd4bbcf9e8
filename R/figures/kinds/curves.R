uses(
  "base/errors", "base/tables", "read/labels", "read/selection", "read/study", "statistics/medians",
  "figures/absent", "figures/definition", "figures/metric", "figures/panels", "figures/theme"
)

#' Draw a metric against a factor: one line per arm, with intervals.
#'
#' A line whose loads no longer finish leaves the panel at its upper edge, with a triangle there.
#'
#' @param figure list(x = factor, facet = other factors, cells, arms, metric) as in the study file
draw_curves <- function(figure, study, data) {
  runs <- data$runs()
  chosen <- metric_of_figure(figure, study, runs)
  study <- chosen$study
  cells <- select_cells(study, figure$cells, figure_place(figure))$cell
  arms <- figure_arms(figure, study$comparison$arms)
  table <- medians_of_figure(figure, study, chosen$runs, cells, arms, open = TRUE)
  if (nrow(table) == 0L) {
    return(sized(empty_figure(absent_text(chosen$runs, study, cells, arms)), height = 30))
  }
  x <- curve_axis(figure, study, table)
  table$x <- x$values
  table$panel <- curve_panels(figure, study, table)
  table$arm <- factor(table$arm, levels = arms)
  metric <- study$comparison$metric
  panels <- nlevels(table$panel)
  width <- if (panels == 1L) 120 else FIGURE_WIDTH
  dodge <- ggplot2::position_dodge(width = x$dodge)
  plot <- ggplot2::ggplot(
    table, ggplot2::aes(.data$x, .data$median, colour = .data$arm, linetype = .data$arm, shape = .data$arm, group = .data$arm)
  ) +
    ggplot2::geom_line(linewidth = 0.5, position = dodge) +
    ggplot2::geom_linerange(
      ggplot2::aes(ymin = .data$low, ymax = .data$high),
      linetype = "solid", linewidth = 0.4, position = dodge, na.rm = TRUE, show.legend = FALSE
    ) +
    ggplot2::geom_point(data = pick(table, is.finite(table$median)), size = 1.7, position = dodge) +
    ggplot2::geom_point(
      data = pick(table, !is.finite(table$median)), shape = 2, size = 2.2, stroke = 0.9, position = dodge, show.legend = FALSE
    ) +
    ggplot2::coord_cartesian(clip = "off") +
    ggplot2::facet_wrap(ggplot2::vars(.data$panel), ncol = 2L, labeller = wrap_to_panels(2L)) +
    x$scale +
    ggplot2::expand_limits(y = 0) +
    arm_scales(study, arms, width) +
    ggplot2::labs(
      x = x$title, y = with_unit(metric$label, metric$unit),
      caption = caption_text(c(metric_key(table, study, chosen$runs, cells, arms), open_key(table, study)))
    ) +
    theme_study()
  sized(plot, width = width, height = 62 * ceiling(panels / 2) + 22)
}

#' What the triangles are, if there are any.
open_key <- function(table, study) {
  if (any(!is.finite(table$median))) {
    sprintf("Triangles at the upper edge: half of the loads or more did not finish within %g s, or failed.", study$timeout_s)
  }
}

#' The horizontal axis: the factor's numbers, or its levels in the order of the study.
#'
#' @return list(values, title, scale, dodge: width over which the arms are set apart)
curve_axis <- function(figure, study, table) {
  name <- figure$x %||% factor_names(study)[1]
  if (!name %in% factor_names(study)) {
    fail(figure_place(figure), sprintf("no factor is called '%s'", name), paste("Factors:", phrase(factor_names(study))))
  }
  known <- pick(study$factor_table, study$factor_table$factor == name)
  if (!is.numeric(table[[name]])) {
    values <- level_labels(study, name, table[[name]])
    return(list(values = values, title = known$label[1], scale = ggplot2::scale_x_discrete(), dodge = 0.25))
  }
  breaks <- sort(unique(table[[name]]))
  gap <- if (length(breaks) > 1L) min(diff(breaks)) else 1
  list(
    values = table[[name]], title = with_unit(known$label[1], known$unit[1]),
    scale = ggplot2::scale_x_continuous(breaks = breaks), dodge = gap / 4
  )
}

#' One panel per combination of the other factors that vary, but for those that the axis decides.
curve_panels <- function(figure, study, table) {
  x <- figure$x %||% factor_names(study)[1]
  varies <- function(name) length(unique(table[[name]])) > 1L
  free <- function(name) any(tapply(as.character(table[[name]]), table[[x]], function(values) length(unique(values))) > 1L)
  varying <- Filter(function(name) varies(name) && free(name), setdiff(factor_names(study), x))
  facet <- as.character(unlist(figure$facet %||% varying))
  hidden <- setdiff(varying, facet)
  if (length(hidden) > 0L) {
    problem <- sprintf("mixes cells that differ in '%s'", hidden[1])
    fail(figure_place(figure), problem, "Select one of its levels in 'cells', or name it in 'facet'")
  }
  if (length(facet) == 0L) {
    return(factor(rep("", nrow(table))))
  }
  cells <- unique(table$cell)
  titles <- cell_title_long(study, cells, facet)
  factor(titles[match(table$cell, cells)], levels = unique(titles))
}
