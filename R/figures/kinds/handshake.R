# The first packets of a load as a sequence diagram.

uses(
  "base/tables", "read/labels", "read/loads", "figures/definition", "figures/details", "figures/panels",
  "figures/theme"
)

# Packets of one kind that follow each other so closely are one arrow.
SAME_FLIGHT_S <- 0.0015
# More than these are the transfer itself.
SHOWN_FLIGHTS <- 12L

#' Draw the first packets between client and server, time downwards, one panel per arm.
#'
#' The table has the times at the client; the server's end of an arrow lies half of the link's round-trip time away.
#'
#' @param figure list(cells, arms) as in the study file
#' @param data list(runs, details) of functions
draw_handshake <- function(figure, study, data) {
  arms <- figure_arms(figure, study$comparison$arms)
  rows <- details_of_figure(figure, study, data, "handshake", arms)
  if (nrow(rows) == 0L) {
    return(no_detail_figure(figure, study, data, arms))
  }
  flights <- packet_flights(rows, link_rtt(study))
  flights <- pick(flights, stats::ave(seq_len(nrow(flights)), flights$cell, flights$arm, FUN = seq_along) <= SHOWN_FLIGHTS)
  titles <- trimws(paste(arm_label(study, flights$arm), shown_cells(study, flights$cell), sep = "\n"))
  flights$panel <- factor(titles, levels = unique(titles[order(as.integer(flights$cell), as.integer(flights$arm))]))
  panels <- nlevels(flights$panel)
  columns <- min(3L, panels)
  height <- 74
  flights$label_ms <- spread_labels(flights, 3.1 * diff(range(0, flights$client_ms)) / height)
  plot <- ggplot2::ggplot(flights) +
    ggplot2::geom_vline(xintercept = c(0, 1), linewidth = 0.3, colour = "grey40") +
    ggplot2::geom_segment(
      ggplot2::aes(x = .data$from, xend = .data$to, y = .data$from_ms, yend = .data$to_ms, linetype = .data$direction),
      linewidth = 0.35, arrow = grid::arrow(length = grid::unit(1.3, "mm"), type = "closed")
    ) +
    ggplot2::geom_segment(
      ggplot2::aes(x = -0.04, xend = -0.12, y = .data$client_ms, yend = .data$label_ms),
      linewidth = 0.2, colour = "grey60"
    ) +
    ggplot2::geom_text(ggplot2::aes(x = -0.15, y = .data$label_ms, label = .data$text), hjust = 1, size = 1.95, family = FONT) +
    ggplot2::facet_wrap(ggplot2::vars(.data$panel), ncol = columns, labeller = ggplot2::label_wrap_gen(34)) +
    ggplot2::scale_x_continuous(limits = c(-1.75, 1.05), breaks = c(0, 1), labels = c("client", "server")) +
    ggplot2::scale_y_reverse() +
    ggplot2::scale_linetype_manual(
      values = c(up = "solid", down = "31"), labels = c(up = "from the client", down = "from the server"),
      breaks = c("up", "down"), name = NULL
    ) +
    ggplot2::labs(
      x = NULL, y = "Time since the client's first packet (ms)",
      caption = caption_text(c(
        "Times at the client; the server's end of each arrow is half of the link's RTT away. Bytes of payload of TCP or UDP.",
        detail_key(figure, study, data, arms, rows)
      ))
    ) +
    theme_study() +
    ggplot2::theme(panel.grid.major.x = ggplot2::element_blank())
  sized(plot, width = FIGURE_WIDTH * columns / 3 + (if (columns < 3L) 10 else 0), height = panel_height(panels, columns, height + 12, 22))
}

#' Packets as flights: those of one direction and kind that follow each other closely are one.
#'
#' @param rtt_ms of every cell, by name
#' @return data.table: cell, arm, direction, client_ms (at the client), from, to (0 client, 1 server), from_ms, to_ms, text
packet_flights <- function(rows, rtt_ms) {
  rows <- pick(rows, order(as.integer(rows$cell), as.integer(rows$arm), rows$time_s))
  kind <- paste(rows$cell, rows$arm, rows$direction, rows$label)
  again <- c(FALSE, kind[-1] == kind[-nrow(rows)] & diff(rows$time_s) < SAME_FLIGHT_S)
  rows$flight <- cumsum(!again)
  flights <- summarise_rows(rows, c("cell", "arm", "direction", "label", "flight"), function(own) {
    list(packets = nrow(own), bytes = sum(own$bytes), client_ms = 1000 * own$time_s[1])
  })
  half <- rtt_ms[as.character(flights$cell)] / 2
  up <- flights$direction == "up"
  flights$from <- ifelse(up, 0, 1)
  flights$to <- 1 - flights$from
  flights$from_ms <- flights$client_ms - ifelse(up, 0, half)
  flights$to_ms <- flights$client_ms + ifelse(up, half, 0)
  times <- ifelse(flights$packets > 1L, sprintf(" \u00d7%d", flights$packets), "")
  bytes <- ifelse(flights$bytes > 0, sprintf(", %d B", as.integer(flights$bytes)), "")
  flights$text <- paste0(flights$label, times, bytes)
  flights
}

#' Round-trip time of every cell's link in ms, by name.
link_rtt <- function(study) {
  rtt <- vapply(study$cells, function(cell) as.numeric(cell$link$rtt_ms %||% 0), 0)
  stats::setNames(rtt, study$planned)
}

#' Heights of labels: where their packets are, moved down where they would cover each other.
spread_labels <- function(flights, gap) {
  place <- flights$client_ms
  for (numbers in split(seq_along(place), as.character(flights$panel))) {
    ordered <- numbers[order(place[numbers])]
    for (i in seq_along(ordered)[-1]) place[ordered[i]] <- max(place[ordered[i]], place[ordered[i - 1L]] + gap)
  }
  place
}
