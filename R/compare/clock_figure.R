# The figure of the two clocks: what real time adds to a load, against what the processor can explain.

uses("base/tables", "read/labels", "read/states", "figures/panels", "figures/theme", "compare/clocks")

CLOCK_SHAPES <- stats::setNames(c(16, 1, 17), c(EXPLAINED, UNDECIDED, LEFT_OVER))
CLOCK_COLOURS <- stats::setNames(c("#0072B2", "#7F7F7F", "#D55E00"), names(CLOCK_SHAPES))

#' Draw the comparison of the clocks: every cell with its interval, arms across, cells without dice above those with; the area is
#' what the processor explains.
#'
#' @param table as from `compare_clocks`
#' @param study resolved study
draw_clocks <- function(table, study) {
  points <- pick(table, !is.na(table$processor_percent))
  if (nrow(points) == 0L) {
    return(sized(empty_figure("No load in real time has its processor seconds."), height = 30))
  }
  points$panel <- factor(arm_label(study, points$arm), levels = unique(arm_label(study, points$arm)))
  points$kind <- factor(ifelse(points$dice, "with dice", "without dice"), levels = c("without dice", "with dice"))
  points$verdict <- factor(points$verdict, levels = names(CLOCK_SHAPES))
  margin <- 100 * LEFT_OVER_SHARE
  plot <- ggplot2::ggplot(points, ggplot2::aes(.data$processor_percent, .data$difference_percent)) +
    ggplot2::geom_ribbon(
      ggplot2::aes(x = .data$x, ymin = .data$least, ymax = .data$most),
      data = explained_area(points, margin), inherit.aes = FALSE, fill = "grey88"
    ) +
    ggplot2::geom_hline(yintercept = 0, colour = "grey50", linewidth = 0.3) +
    ggplot2::geom_linerange(
      ggplot2::aes(ymin = .data$low, ymax = .data$high, colour = .data$verdict),
      linewidth = 0.35, na.rm = TRUE, show.legend = FALSE
    ) +
    ggplot2::geom_point(ggplot2::aes(shape = .data$verdict, colour = .data$verdict), size = 1.4) +
    ggplot2::facet_grid(ggplot2::vars(.data$kind), ggplot2::vars(.data$panel), scales = "free") +
    ggplot2::scale_shape_manual(values = CLOCK_SHAPES, name = NULL, drop = FALSE) +
    ggplot2::scale_colour_manual(values = CLOCK_COLOURS, name = NULL, drop = FALSE) +
    ggplot2::scale_x_continuous(expand = ggplot2::expansion(c(0, 0))) +
    ggplot2::labs(
      x = "Processor time of server and client (% of the load in real time)", y = "Longer in real time (%)",
      caption = caption_text(c(
        sprintf(
          "Each mark is a cell: medians of %s loads in real time and %s in virtual time, and the %g %% interval.",
          range_text(points$n_real), range_text(points$n_virtual), 100 * study$comparison$confidence
        ),
        sprintf("Grey: between nothing and the processor's time, within %g %%. An interval across its edge decides nothing.", margin)
      ))
    ) +
    theme_study()
  sized(plot, height = panel_height(nlevels(droplevels(points$kind)), 1L, 58, 24))
}

#' What the processor explains, in each panel: from nothing to its own time, and a margin; no higher than the marks of its row.
explained_area <- function(points, margin) {
  panels <- unique(points[, c("panel", "kind")])
  parts <- lapply(seq_len(nrow(panels)), function(i) {
    top <- max(c(points$high, points$difference_percent)[points$kind == panels$kind[i]], margin, na.rm = TRUE)
    x <- seq(0, 1.08 * max(points$processor_percent[points$panel == panels$panel[i]]), length.out = 200L)
    cbind(panels[i, ], x = x, least = -margin, most = pmin(x + margin, 1.08 * top))
  })
  data.table::rbindlist(parts)
}
