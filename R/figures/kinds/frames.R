uses("base/tables", "read/labels", "read/loads", "figures/definition", "figures/details", "figures/theme")

#' Draw when every piece of every resource arrived, one panel per arm.
#'
#' @param figure list(cells, arms) as in the study file
#' @param data list(runs, details) of functions
draw_frames <- function(figure, study, data) {
  arms <- figure_arms(figure, study$comparison$arms)
  rows <- named_pieces(details_of_figure(figure, study, data, "frames", arms))
  rows <- pick(rows, !is.na(rows$time_s))
  if (nrow(rows) == 0L) {
    return(no_detail_figure(figure, study, data, arms))
  }
  rows <- only_last_cell(rows)
  rows$path <- factor(rows$path, levels = rev(unique(rows$path[order(rows$arm, rows$time_s)])))
  spans <- summarise_rows(rows, c("arm", "path"), function(own) list(first = min(own$time_s), last = max(own$time_s)))
  rows$panel <- arm_panels(study, rows$arm)
  spans$panel <- arm_panels(study, spans$arm)
  resources <- nlevels(rows$path)
  panels <- nlevels(rows$panel)
  plot <- ggplot2::ggplot(rows, ggplot2::aes(.data$time_s, .data$path)) +
    ggplot2::geom_segment(
      ggplot2::aes(x = .data$first, xend = .data$last, yend = .data$path),
      data = spans, colour = "grey75", linewidth = 0.25
    ) +
    ggplot2::geom_point(shape = "|", size = 1.3) +
    ggplot2::facet_wrap(ggplot2::vars(.data$panel), nrow = 1L) +
    ggplot2::scale_y_discrete(labels = short_paths) +
    ggplot2::expand_limits(x = 0) +
    ggplot2::labs(
      x = "Time since the client's first packet (s)", y = NULL,
      caption = caption_text(c(
        paste0(first_upper(cell_title(study, as.character(rows$cell[1]))), "."),
        "A stroke is a DATA frame of HTTP/2 as it was complete, or a packet's piece of a stream of QUIC.",
        detail_key(figure, study, data, arms, rows)
      ))
    ) +
    theme_study() +
    ggplot2::theme(axis.text.y = ggplot2::element_text(size = if (resources > 40L) 4 else 6))
  sized(plot, width = FIGURE_WIDTH, height = max(2.6, min(4.2, 200 / resources)) * resources + 30)
}

#' Pieces of resources: what a stream carries beside them (control, QPACK) has no path.
named_pieces <- function(rows) {
  if (!"path" %in% names(rows)) {
    return(pick(rows, 0L))
  }
  pick(rows, !is.na(rows$path) & nzchar(rows$path))
}

#' One page only: of the cells of the figure the last that has rows, the largest as the study orders them.
only_last_cell <- function(rows) pick(rows, as.integer(rows$cell) == max(as.integer(rows$cell)))

#' Paths without folders, cut where they are long.
short_paths <- function(paths) {
  names <- sub("^.*/", "", paths)
  names[!nzchar(names)] <- "/"
  ifelse(nchar(names) > 18L, paste0(substr(names, 1L, 17L), "\u2026"), names)
}
