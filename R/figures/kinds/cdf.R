# Empirical distributions.

uses(
  "base/tables", "read/labels", "read/runs", "read/selection", "figures/absent", "figures/definition",
  "figures/panels", "figures/theme"
)

#' Points of empirical distribution functions.
#'
#' Loads that did not finish count in n and never come to an end, so such a curve stays below 1.
#'
#' @param runs as from `read_runs`
#' @param cells,arms names; what was not measured gives no rows
#' @return data.table: cell, arm, n, value, share (of loads that took at most `value`); starts with share 0
ecdf_points <- function(runs, cells, arms) {
  grid <- expand.grid(cell = cells, arm = arms, stringsAsFactors = FALSE)
  points <- lapply(seq_len(nrow(grid)), function(i) {
    values <- outcomes(runs, grid$cell[i], grid$arm[i])
    finished <- sort(unname(values[is.finite(values)]))
    if (length(finished) == 0L) {
      return(NULL)
    }
    data.table::data.table(
      cell = grid$cell[i], arm = grid$arm[i], n = length(values),
      value = c(finished[1], finished), share = c(0, seq_along(finished) / length(values))
    )
  })
  none <- data.table::data.table(cell = character(), arm = character(), n = integer(), value = numeric(), share = numeric())
  data.table::rbindlist(c(list(none), points))
}

#' Draw the distributions of some cells, one panel per cell.
#'
#' @param figure list(cells = selection, arms, facet) as in the study file
#' @return list(plot, width, height)
draw_cdf <- function(figure, study, data) {
  runs <- data$runs()
  cells <- select_cells(study, figure$cells, figure_place(figure))$cell
  arms <- figure_arms(figure, study$comparison$arms)
  points <- ecdf_points(runs, cells, arms)
  absent <- absent_text(runs, study, cells, arms)
  if (nrow(points) == 0L) {
    return(sized(empty_figure(absent), height = 30))
  }
  shown <- cells[cells %in% points$cell]
  titles <- panel_titles(study, cells, figure$facet)
  points$panel <- factor(titles[match(points$cell, cells)], levels = unique(titles[match(shown, cells)]))
  points$arm <- factor(points$arm, levels = arms)
  axis <- cdf_axis(points)
  columns <- min(2L, length(shown))
  # A curve of loads of which some did not finish goes on to the edge of its panel below 1.
  last <- pick(points, !duplicated(points[, c("panel", "arm")], fromLast = TRUE))
  last$value <- ifelse(last$share < 1, axis$end, last$value)
  metric <- study$comparison$metric
  plot <- ggplot2::ggplot(
    rbind(points, last),
    ggplot2::aes(.data$value, .data$share, colour = .data$arm, linetype = .data$arm)
  ) +
    ggplot2::geom_step(linewidth = 0.6) +
    ggplot2::facet_wrap(ggplot2::vars(.data$panel), ncol = columns, labeller = wrap_to_panels(columns)) +
    axis$scale +
    ggplot2::scale_y_continuous(limits = c(0, 1), breaks = seq(0, 1, 0.25)) +
    arm_scales(study, arms)[1:2] +
    ggplot2::labs(
      x = with_unit(metric$label, metric$unit), y = "Share of loads",
      caption = caption_text(c(count_text(points), axis$key, absent))
    ) +
    theme_study() +
    ggplot2::theme(panel.spacing.x = grid::unit(5, "mm"))
  sized(plot, width = if (length(shown) == 1L) 105 else FIGURE_WIDTH, height = 62 * ceiling(length(shown) / 2) + 18)
}

# Of panels that differ more, a common linear axis would show little.
WIDEST_LINEAR <- 4

#' One axis for all panels, so that they can be compared by eye: from 0, or logarithmic.
#'
#' @return list(scale, end: where the axis ends, key: a remark for the caption)
cdf_axis <- function(points) {
  ends <- tapply(points$value, points$panel, max)
  if (max(ends) <= WIDEST_LINEAR * min(ends)) {
    end <- 1.04 * max(ends)
    scale <- ggplot2::scale_x_continuous(limits = c(0, end), expand = ggplot2::expansion(c(0, 0.02)))
    return(list(scale = scale, end = end, key = ""))
  }
  begin <- min(points$value) / 1.15
  end <- 1.15 * max(ends)
  scale <- ggplot2::scale_x_log10(
    limits = c(begin, end), expand = ggplot2::expansion(0), breaks = decade_breaks,
    labels = function(x) format(x, trim = TRUE, drop0trailing = TRUE, scientific = FALSE)
  )
  list(scale = scale, end = end, key = "The axis is logarithmic.")
}

#' 1, 2 and 5 of every power of ten within limits; of many, the powers alone.
decade_breaks <- function(limits) {
  powers <- seq(floor(log10(limits[1])), ceiling(log10(limits[2])))
  steps <- if (length(powers) > 4L) 1 else c(1, 2, 5)
  breaks <- as.vector(outer(steps, 10^powers))
  breaks[breaks >= limits[1] & breaks <= limits[2]]
}

#' `n = 100 loads per curve` or the range.
count_text <- function(points) {
  range <- unique(range(points$n))
  sprintf("n = %s %s per curve.", paste(range, collapse = " to "), if (max(range) == 1L) "load" else "loads")
}
