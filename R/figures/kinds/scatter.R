uses(
  "base/errors", "base/tables", "read/labels", "read/selection", "statistics/correlation", "statistics/medians",
  "figures/absent", "figures/definition", "figures/panels", "figures/theme"
)

#' Draw the metric against another column of the table of runs, one panel per arm, with the rank correlation.
#'
#' @param figure list(x = column, cells, arms, metric) as in the study file
draw_scatter <- function(figure, study, data) {
  runs <- data$runs()
  if (is.null(figure$x)) fail(figure_place(figure), "has no 'x'", "Name a column of the table of runs")
  chosen <- metric_of_figure(figure, study, runs)
  study <- chosen$study
  cells <- select_cells(study, figure$cells, figure_place(figure))$cell
  arms <- figure_arms(figure, study$comparison$arms)
  axis <- column_axis(figure$x)
  grid <- data.table::CJ(cell = cells, arm = arms, sorted = FALSE)
  parts <- lapply(seq_len(nrow(grid)), function(i) scatter_panel(chosen$runs, study, figure$x, grid$cell[i], grid$arm[i]))
  points <- data.table::rbindlist(lapply(parts, `[[`, "points"))
  if (nrow(points) == 0L) {
    absent <- absent_text(chosen$runs, study, cells, arms)
    text <- if (nzchar(absent)) absent else sprintf("No load has a value of '%s'.", figure$x)
    return(sized(empty_figure(text), height = 30))
  }
  levels <- unique(vapply(parts, `[[`, "", "title"))
  points$panel <- factor(points$panel, levels = levels)
  metric <- study$comparison$metric
  panels <- length(unique(points$panel))
  columns <- min(4L, panels)
  without <- sum(vapply(parts, `[[`, 0L, "without"))
  plot <- ggplot2::ggplot(points, ggplot2::aes(.data$x / axis$divisor, .data$y)) +
    ggplot2::geom_smooth(
      method = "lm", formula = y ~ x, se = FALSE, colour = "grey55", linewidth = 0.4, linetype = "22",
      data = pick(points, points$several)
    ) +
    ggplot2::geom_point(size = 1.1, shape = 1, stroke = 0.45) +
    ggplot2::facet_wrap(ggplot2::vars(.data$panel), ncol = columns) +
    ggplot2::scale_x_continuous(limits = c(0, NA), n.breaks = 4L, expand = ggplot2::expansion(c(0.03, 0.05))) +
    ggplot2::expand_limits(y = 0) +
    ggplot2::labs(
      x = axis$title, y = with_unit(metric$label, metric$unit),
      caption = caption_text(c(
        sprintf(
          "\u03c1: Spearman's rank correlation with its %g %% bootstrap interval; dashed: least squares.",
          100 * study$comparison$confidence
        ),
        if (without > 0L) sprintf("Without any: %d %s.", without, if (without == 1L) "load" else "loads"),
        absent_text(chosen$runs, study, cells, arms)
      ))
    ) +
    theme_study()
  sized(plot, width = if (panels == 1L) 90 else FIGURE_WIDTH, height = panel_height(panels, columns, 50, 20))
}

#' Points and title of one arm in one cell.
scatter_panel <- function(runs, study, column, cell, arm) {
  loads <- paired_columns(runs, cell, arm, column)
  found <- arm_correlation(loads, study, cell, arm, column)
  title <- sprintf("%s\n%s", arm_label(study, arm), correlation_text(found))
  points <- data.table::data.table(panel = title, x = loads$x, y = loads$y, several = !is.na(found$value))
  list(points = points, title = title, without = loads$without)
}

correlation_text <- function(found) {
  if (is.na(found$value)) {
    return(sprintf("n = %d", found$n))
  }
  # A correlation near zero must not read "-0.00".
  number <- function(x) sub("-", "\u2212", sprintf("%.2f", round(x, 2) + 0), fixed = TRUE)
  sprintf("\u03c1 = %s [%s, %s]\nn = %d", number(found$value), number(found$interval[1]), number(found$interval[2]), found$n)
}
