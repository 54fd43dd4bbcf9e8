uses(
  "base/tables", "read/labels", "read/loads", "figures/definition", "figures/details", "figures/kinds/frames",
  "figures/theme"
)

#' Draw which stream each piece belongs to, in the order of sending, one strip per arm.
#'
#' @param figure list(cells, arms) as in the study file
#' @param data list(runs, details) of functions
draw_streams <- function(figure, study, data) {
  arms <- figure_arms(figure, study$comparison$arms)
  rows <- named_pieces(details_of_figure(figure, study, data, "frames", arms))
  if (nrow(rows) == 0L) {
    return(no_detail_figure(figure, study, data, arms))
  }
  rows <- number_streams(only_last_cell(rows))
  rows$panel <- arm_panels(study, rows$arm)
  panels <- nlevels(rows$panel)
  plot <- ggplot2::ggplot(rows, ggplot2::aes(.data$number, .data$stream_number)) +
    ggplot2::geom_tile(width = 1, height = 0.85, fill = "grey15") +
    ggplot2::facet_wrap(ggplot2::vars(.data$panel), ncol = 1L) +
    ggplot2::scale_x_continuous(expand = ggplot2::expansion(c(0.005, 0.01))) +
    ggplot2::scale_y_reverse(breaks = function(range) pretty(c(1, max(abs(range))), 4L), expand = ggplot2::expansion(add = 0.6)) +
    ggplot2::labs(
      x = "Pieces of streams in the order of sending", y = "Stream, in the order of its first piece",
      caption = caption_text(c(
        paste0(first_upper(cell_title(study, as.character(rows$cell[1]))), "."),
        "A staircase: one stream after the other. Parallel lines: streams in turn.",
        detail_key(figure, study, data, arms, rows)
      ))
    ) +
    theme_study() +
    ggplot2::theme(panel.grid.major = ggplot2::element_blank())
  sized(plot, height = 32 * panels + 24)
}

#' Number the pieces in the order of sending (HTTP/2: of arrival) and the streams in the order of their first piece.
#'
#' @return rows with number and stream_number, both from 1 in every arm
number_streams <- function(rows) {
  sent <- if ("sent_s" %in% names(rows)) as.numeric(rows$sent_s) else rep(NA_real_, nrow(rows))
  rows <- pick(rows, order(as.integer(rows$arm), ifelse(is.na(sent), rows$time_s, sent)))
  rows$number <- stats::ave(seq_len(nrow(rows)), rows$arm, FUN = seq_along)
  rows$stream_number <- stats::ave(as.numeric(rows$stream), rows$arm, FUN = function(stream) match(stream, unique(stream)))
  rows
}
