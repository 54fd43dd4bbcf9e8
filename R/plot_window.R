# The sender's state over time.

WINDOW_QUANTITIES <- c(
  cwnd_bytes = "Congestion window (kB)", bytes_in_flight = "In flight (kB)", delivery_rate_mbit = "Delivered (Mbit/s)"
)

#' Draw congestion window, bytes in flight and rate of delivery, the protocols of a server overlaid.
#'
#' @param figure list(cells, arms) as in the study file
#' @param data list(runs, details) of functions
draw_window <- function(figure, study, data) {
  arms <- figure_arms(figure, study$comparison$arms)
  rows <- details_of_figure(figure, study, data, "window", arms)
  rows <- window_points(rows)
  if (nrow(rows) == 0L) {
    return(no_detail_figure(figure, study, data, arms))
  }
  rows$panel <- group_panels(study, rows)
  lines <- line_keys(study, rows)
  rows$key <- lines$key
  logged <- unique(rows$arm[rows$quantity == WINDOW_QUANTITIES[["cwnd_bytes"]]])
  silent <- setdiff(as.character(unique(rows$arm)), as.character(logged))
  plot <- ggplot2::ggplot(rows, ggplot2::aes(.data$time_s, .data$value, colour = .data$key, linetype = .data$key)) +
    ggplot2::geom_line(ggplot2::aes(group = .data$arm), linewidth = 0.4) +
    ggplot2::facet_grid(ggplot2::vars(.data$quantity), ggplot2::vars(.data$panel), scales = "free_y", switch = "y") +
    ggplot2::expand_limits(x = 0, y = 0) +
    lines$scales +
    ggplot2::labs(
      x = "Time since the client's first packet (s)", y = NULL,
      caption = caption_text(c(
        "Window: what the server's own log says; the rest: from its capture, the rate over one round-trip time. Peaks of TCP's rate:",
        "one acknowledgement for all that had waited for a repaired loss.",
        if (length(silent) > 0L) sprintf("No log of a window: %s.", phrase(arm_label(study, silent))),
        detail_key(figure, study, data, arms, rows)
      ))
    ) +
    theme_study() +
    ggplot2::theme(strip.placement = "outside", strip.text.y.left = ggplot2::element_text(angle = 90, size = 7.5, hjust = 0.5))
  sized(plot, width = if (nlevels(rows$panel) == 1L) 110 else FIGURE_WIDTH, height = 34 * length(unique(rows$quantity)) + 36)
}

#' The table `window` in long form: the window by the log, the rest by the capture.
#'
#' @return the keys, time_s, quantity (factor), value
window_points <- function(rows) {
  sources <- c(cwnd_bytes = "qlog", bytes_in_flight = "capture", delivery_rate_mbit = "capture")
  parts <- lapply(names(WINDOW_QUANTITIES), function(column) {
    if (!column %in% names(rows)) {
      return(NULL)
    }
    known <- pick(rows, rows$source == sources[[column]] & !is.na(rows[[column]]))
    value <- as.numeric(known[[column]]) / (if (column == "delivery_rate_mbit") 1 else 1000)
    cbind(known[, c(DETAIL_KEYS, "time_s"), with = FALSE], quantity = WINDOW_QUANTITIES[[column]], value = value)
  })
  points <- data.table::rbindlist(c(list(no_details()), parts), fill = TRUE)
  points$quantity <- factor(points$quantity, levels = unname(WINDOW_QUANTITIES))
  points
}
