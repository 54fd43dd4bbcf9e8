# The sender's state over time.

uses(
  "base/errors", "base/tables", "read/details", "read/labels", "read/loads", "read/selection",
  "figures/definition", "figures/details", "figures/protocols", "figures/theme"
)

WINDOW_QUANTITIES <- c(
  cwnd_bytes = "Congestion window (kB)", bytes_in_flight = "In flight (kB)", delivery_rate_mbit = "Delivered (Mbit/s)",
  estimate_mbit = "Estimated (Mbit/s)"
)
# What a log calls its sender's estimate of the bandwidth; where it does not, the pacing rate, which follows from it.
ESTIMATES <- c("delivery_rate_mbit", "pacing_rate_mbit")

#' Draw congestion window, bytes in flight, rate of delivery and the sender's estimate of it, the protocols of a server overlaid.
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
  narrow <- nlevels(rows$panel) == 1L
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
        paste(
          "Window and estimate: what the server's own log says; the rest: from its capture, the rate over one round-trip time. Peaks",
          "of TCP's rate: one acknowledgement for all that had waited for a repaired loss."
        ),
        if (length(silent) > 0L) sprintf("No log of a window: %s.", phrase(arm_label(study, silent))),
        estimate_key(study, rows),
        detail_key(figure, study, data, arms, rows)
      ), if (narrow) 88L else 140L)
    ) +
    theme_study() +
    ggplot2::theme(strip.placement = "outside", strip.text.y.left = ggplot2::element_text(angle = 90, size = 7.5, hjust = 0.5))
  sized(plot, width = if (narrow) 110 else FIGURE_WIDTH, height = 34 * length(unique(rows$quantity)) + 36)
}

#' Which arms' logs tell an estimate, and by what.
estimate_key <- function(study, rows) {
  told <- unique(pick(rows, rows$quantity == WINDOW_QUANTITIES[["estimate_mbit"]])[, c("arm", "by"), with = FALSE])
  named <- function(column) phrase(arm_label(study, as.character(told$arm[told$by == column])))
  c(
    if (any(told$by == "delivery_rate_mbit")) sprintf("Estimated: the delivery rate of the log, of %s.", named("delivery_rate_mbit")),
    if (any(told$by == "pacing_rate_mbit")) {
      sprintf("Estimated: the pacing rate of the log, which has no other, of %s.", named("pacing_rate_mbit"))
    }
  )
}

#' What logs tell of the sender's estimate of the bandwidth, one column per arm: the first of ESTIMATES that it has.
#'
#' @return the rows of logs with estimate_mbit and by (which column it is)
with_estimates <- function(rows) {
  if (!"source" %in% names(rows)) {
    return(rows)
  }
  rows$estimate_mbit <- NA_real_
  rows$by <- NA_character_
  for (column in rev(intersect(ESTIMATES, names(rows)))) {
    logged <- rows$source == "qlog" & !is.na(rows[[column]]) & rows[[column]] > 0
    mine <- rows$source == "qlog" & row_key(rows, c("cell", "arm")) %in% row_key(pick(rows, logged), c("cell", "arm"))
    rows$estimate_mbit[mine] <- as.numeric(rows[[column]])[mine]
    rows$by[mine] <- column
  }
  rows
}

#' The table `window` in long form: window and estimate by the log, the rest by the capture.
#'
#' @return the keys, time_s, quantity (factor), value, by (of an estimate: the log's own column)
window_points <- function(rows) {
  rows <- with_estimates(rows)
  sources <- c(cwnd_bytes = "qlog", bytes_in_flight = "capture", delivery_rate_mbit = "capture", estimate_mbit = "qlog")
  parts <- lapply(names(WINDOW_QUANTITIES), function(column) {
    if (!column %in% names(rows)) {
      return(NULL)
    }
    known <- pick(rows, rows$source == sources[[column]] & !is.na(rows[[column]]))
    value <- as.numeric(known[[column]]) / (if (grepl("_mbit$", column)) 1 else 1000)
    keys <- known[, c(DETAIL_KEYS, "time_s"), with = FALSE]
    cbind(keys, quantity = WINDOW_QUANTITIES[[column]], value = value, by = if (column == "estimate_mbit") known$by else NA_character_)
  })
  points <- data.table::rbindlist(c(list(no_details()), parts), fill = TRUE)
  points$quantity <- factor(points$quantity, levels = unname(WINDOW_QUANTITIES))
  points
}
