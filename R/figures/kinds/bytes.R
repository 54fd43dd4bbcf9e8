uses(
  "base/tables", "read/loads", "figures/definition", "figures/details", "figures/panels", "figures/protocols",
  "figures/theme"
)

#' Draw acknowledged bytes over time, the protocols of a server overlaid.
#'
#' @param figure list(cells, arms) as in the study file
#' @param data list(runs, details) of functions
draw_bytes <- function(figure, study, data) {
  arms <- figure_arms(figure, study$comparison$arms)
  rows <- details_of_figure(figure, study, data, "series", arms)
  rows <- pick(rows, !is.na(rows$acknowledged_bytes))
  if (nrow(rows) == 0L) {
    return(no_detail_figure(figure, study, data, arms))
  }
  rows$panel <- group_panels(study, rows)
  lines <- line_keys(study, rows)
  rows$key <- lines$key
  ends <- tapply(rows$time_s, rows$panel, max)
  # Panels of very different length would hide the short ones.
  free <- max(ends) > LONGEST_AXIS_RATIO * min(ends)
  panels <- nlevels(rows$panel)
  columns <- min(3L, panels)
  plot <- ggplot2::ggplot(rows, ggplot2::aes(.data$time_s, .data$acknowledged_bytes / 1e6, colour = .data$key, linetype = .data$key)) +
    ggplot2::geom_line(ggplot2::aes(group = .data$arm), linewidth = 0.6) +
    ggplot2::facet_wrap(ggplot2::vars(.data$panel), ncol = columns, scales = if (free) "free_x" else "fixed") +
    ggplot2::scale_x_continuous(limits = c(0, NA), expand = ggplot2::expansion(c(0, 0.03))) +
    ggplot2::expand_limits(y = 0) +
    lines$scales +
    ggplot2::labs(
      x = "Time since the client's first packet (s)", y = "Acknowledged bytes (MB)",
      caption = caption_text(c(detail_key(figure, study, data, arms, rows), if (free) "The time axes differ."))
    ) +
    theme_study() +
    # Room for the last label of one axis beside the first of the next.
    ggplot2::theme(panel.spacing.x = grid::unit(5, "mm"))
  sized(plot, width = if (panels == 1L) 110 else FIGURE_WIDTH, height = panel_height(panels, columns))
}

LONGEST_AXIS_RATIO <- 4
