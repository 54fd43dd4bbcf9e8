# Figures about the quality of the data: links, failures, drift.

uses("base/tables", "read/calibration", "figures/theme")

#' Draw what calibration measured against what was asked for.
draw_calibration <- function(figure, study, data) {
  calibration <- data$calibration()
  # What has a bound and nothing that was asked for is in the appendix's table alone.
  calibration <- pick(calibration, !calibration$quantity %in% BOUNDED_QUANTITIES)
  if (nrow(calibration) == 0L) {
    return(sized(empty_figure("No link was calibrated."), height = 30))
  }
  table <- calibration_deviation(calibration)
  table$link_text <- factor(link_label(table), levels = rev(unique(link_label(table))))
  shapes <- c(pass = 16, fail = 4)
  plot <- ggplot2::ggplot(table, ggplot2::aes(.data$deviation, .data$link_text, colour = .data$direction, shape = .data$verdict)) +
    ggplot2::geom_vline(xintercept = 0, linewidth = 0.3, colour = "grey40") +
    ggplot2::geom_errorbarh(
      ggplot2::aes(xmin = .data$from, xmax = .data$to),
      height = 0, linewidth = 0.35, na.rm = TRUE, show.legend = FALSE, position = ggplot2::position_dodge(0.6)
    ) +
    ggplot2::geom_point(size = 1.6, position = ggplot2::position_dodge(0.6)) +
    ggplot2::geom_blank(data = calibration_frame(table)) +
    ggplot2::facet_wrap(ggplot2::vars(.data$panel), scales = "free_x", ncol = 3L, labeller = ggplot2::label_wrap_gen(24L)) +
    ggplot2::scale_colour_manual(values = c(both = "#000000", up = "#D55E00", down = "#0072B2"), name = "Direction") +
    ggplot2::scale_shape_manual(values = shapes, limits = names(shapes), name = "Verdict") +
    ggplot2::scale_x_continuous(n.breaks = 4L) +
    ggplot2::labs(x = "Measured minus asked", y = "Link: rate, RTT, loss") +
    theme_study() +
    ggplot2::theme(panel.spacing.x = grid::unit(4, "mm"))
  bands <- ceiling(length(unique(table$panel)) / 3)
  sized(plot, height = bands * (14 + 4.5 * nlevels(table$link_text)) + 26)
}

#' Invisible points that give a panel without any deviation an axis of a width that means something.
calibration_frame <- function(table) {
  widest <- tapply(pmax(abs(table$deviation), abs(table$from), abs(table$to), na.rm = TRUE), table$panel, max)
  flat <- pick(table, table$panel %in% names(widest)[widest == 0])
  rbind(transform(flat, deviation = -1), transform(flat, deviation = 1))
}

#' Deviation of the measured from the asked, in percent of the asked, or absolute where nothing was asked for.
#'
#' @return `calibration` with deviation, from, to, panel (quantity and unit)
calibration_deviation <- function(calibration) {
  table <- data.table::copy(calibration)
  relative <- table$asked != 0
  scale <- ifelse(relative, 100 / table$asked, 1)
  table$deviation <- (table$measured - table$asked) * scale
  table$from <- (table$low - table$asked) * scale
  table$to <- (table$high - table$asked) * scale
  name <- sub(" [(].*", "", quantity_label(table$quantity))
  unit <- sub("^[^(]*[(]?([^)]*)[)]?$", "\\1", quantity_label(table$quantity))
  absolute <- ifelse(nzchar(unit), sprintf("%s where none was asked (%s)", name, unit), sprintf("%s (count)", name))
  table$panel <- ifelse(relative, sprintf("%s (%% of asked)", name), absolute)
  table
}
