uses(
  "base/tables", "read/labels", "read/loads", "read/study", "figures/absent", "figures/definition",
  "figures/details", "figures/panels", "figures/protocols", "figures/theme"
)

#' Draw the share of resources by the protocol that carried them, one panel per page or cell.
#'
#' @param figure list(cells, arms, facet) as in the study file
#' @param data list(runs, details) of functions
draw_share <- function(figure, study, data) {
  arms <- figure_arms(figure, study$comparison$arms)
  rows <- details_of_figure(figure, study, data, "objects", arms, first = FALSE)
  rows <- if ("protocol" %in% names(rows)) pick(rows, !is.na(rows$protocol)) else pick(rows, 0L)
  if (nrow(rows) == 0L) {
    return(no_detail_figure(figure, study, data, arms))
  }
  cells <- levels(droplevels(rows$cell))
  titles <- panel_titles(study, cells, figure$facet %||% share_facet(study, cells))
  rows$panel <- factor(titles[match(rows$cell, cells)], levels = unique(titles))
  shares <- protocol_shares(rows)
  shares$arm <- factor(shares$arm, levels = rev(arms))
  protocols <- intersect(c(names(PROTOCOL_LABELS), unique(shares$protocol)), shares$protocol)
  shares$protocol <- factor(shares$protocol, levels = rev(protocols))
  panels <- nlevels(shares$panel)
  columns <- min(3L, panels)
  plot <- ggplot2::ggplot(shares, ggplot2::aes(100 * .data$share, .data$arm, fill = .data$protocol)) +
    ggplot2::geom_col(width = 0.7, colour = "grey30", linewidth = 0.25) +
    ggplot2::geom_text(
      ggplot2::aes(label = sprintf("%.0f %% of %s", 100 * .data$share, .data$resources)),
      position = ggplot2::position_stack(vjust = 0.5), size = 2, family = FONT, data = pick(shares, shares$share > 0.2)
    ) +
    ggplot2::facet_wrap(ggplot2::vars(.data$panel), ncol = columns) +
    ggplot2::scale_x_continuous(limits = c(0, 100.001), expand = ggplot2::expansion(c(0, 0.02))) +
    ggplot2::scale_y_discrete(labels = function(arms) arm_label(study, arms)) +
    ggplot2::scale_fill_manual(
      values = stats::setNames(grDevices::grey(seq(0.92, 0.62, length.out = max(2L, length(protocols))))[seq_along(protocols)], protocols),
      labels = stats::setNames(protocol_label(protocols), protocols), name = NULL
    ) +
    ggplot2::labs(
      x = "Share of the resources (%)", y = NULL,
      caption = caption_text(c("All loads of all links together.", absent_text(data$runs(), study, as.character(cells), arms)))
    ) +
    theme_study()
  sized(plot, width = FIGURE_WIDTH, height = panel_height(panels, columns, 6 * length(arms) + 14, 22))
}

#' Share of the resources of every arm and panel by protocol.
#'
#' @return data.table: panel, arm, protocol, share, resources (all of the arm in the panel)
protocol_shares <- function(rows) {
  counts <- summarise_rows(rows, c("panel", "arm", "protocol"), function(own) list(count = nrow(own)))
  counts$resources <- stats::ave(counts$count, counts$panel, counts$arm, FUN = sum)
  counts$share <- counts$count / counts$resources
  counts
}

#' What panels tell apart unless the figure says: the load, if the study varies it.
share_facet <- function(study, cells) {
  if ("workload" %in% factor_names(study)) "workload" else factor_names(study)
}
