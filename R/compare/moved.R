# The heatmap that must stay grey: which cells and arms differ between two measurements.

uses(
  "base/tables", "read/censoring", "read/labels", "read/states", "figures/panels", "figures/theme",
  "figures/tiles", "compare/measurements"
)

UNMOVED_FILL <- "grey88"

#' Draw what moved: one panel per further measurement, cells down, arms across.
#'
#' @param table as from `compare_measurements`
draw_moved <- function(table, study) {
  tiles <- data.table::copy(table)
  tiles$significant <- tiles$state == MOVED
  tiles$panel <- sprintf("%s against %s", tiles$measurement, tiles$reference)
  tiles$panel <- factor(tiles$panel, levels = unique(tiles$panel))
  tiles$cell <- factor(tiles$cell, levels = rev(unique(tiles$cell)))
  tiles$arm <- factor(tiles$arm, levels = unique(tiles$arm))
  shade <- pmax(-DARKEST_LOG2, pmin(DARKEST_LOG2, log2(tiles$ratio)))
  if (study$comparison$metric$better == "higher") shade <- -shade
  tiles$shade <- ifelse(tiles$state == MOVED, shade, NA)
  tiles$text <- moved_text(tiles)
  across <- arms_across(study, levels(tiles$arm), (FIGURE_WIDTH - 30) / min(3L, nlevels(tiles$panel)))
  plot <- ggplot2::ggplot(tiles, ggplot2::aes(.data$arm, .data$cell)) +
    blank_moved(tiles, UNMOVED, UNMOVED_FILL, NA, "solid") +
    blank_moved(tiles, NOT_MEASURED, "white", "grey80", "dotted") +
    ggplot2::geom_tile(
      ggplot2::aes(fill = .data$shade),
      data = pick(tiles, tiles$state == MOVED), width = 0.94, height = 0.9, colour = "black", linewidth = 0.6
    ) +
    ggplot2::geom_text(
      ggplot2::aes(label = .data$text),
      size = 2.05, family = FONT, colour = ifelse(!is.na(tiles$shade) & abs(tiles$shade) > 0.6, "white", "black")
    ) +
    ggplot2::facet_wrap(ggplot2::vars(.data$panel)) +
    ggplot2::scale_fill_gradient2(low = FASTER, mid = EQUAL, high = SLOWER, limits = c(-DARKEST_LOG2, DARKEST_LOG2), guide = "none") +
    ggplot2::labs(x = NULL, y = "Cell", caption = caption_text(moved_key(tiles, study))) +
    theme_study() +
    ggplot2::theme(panel.grid = ggplot2::element_blank(), axis.text = ggplot2::element_text(size = 6)) +
    across$parts
  bands <- ceiling(nlevels(tiles$panel) / 3)
  sized(plot, height = (4.4 * nlevels(tiles$cell)) * bands + 34 + across$height)
}

blank_moved <- function(tiles, state, fill, colour, line) {
  ggplot2::geom_tile(
    data = pick(tiles, tiles$state == state), fill = fill, colour = colour, linetype = line, width = 0.94, height = 0.9, linewidth = 0.2
  )
}

#' Difference in percent, or which side did not finish.
moved_text <- function(tiles) {
  difference <- tiles$difference_percent
  open <- is_unfinished(tiles$median_a) | is_unfinished(tiles$median_b)
  number <- sprintf("%s%.1f", ifelse(difference < 0, "\u2212", "+"), abs(difference))
  ifelse(tiles$state == NOT_MEASURED, "", ifelse(!is.na(open) & open, "fail", paste0(number, ifelse(tiles$significant, "*", ""))))
}

moved_key <- function(tiles, study) {
  metric <- study$comparison$metric
  known <- pick(tiles, tiles$state != NOT_MEASURED)
  c(
    sprintf("Difference of the medians of %s in percent. Grey: did not move; coloured and framed: moved.", tolower_first(metric$label)),
    significance_key(tiles, study, "these tiles"),
    paste0(tolerated_text(known), "."),
    sprintf("n = %s loads on each side.", range_text(c(known$n_a, known$n_b)))
  )
}
