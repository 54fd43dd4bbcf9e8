# Who works with whom: servers across, clients down.

uses(
  "base/errors", "base/tables", "read/labels", "read/selection", "read/states", "statistics/medians",
  "statistics/pairings", "figures/definition", "figures/save", "figures/theme"
)

#' Draw the matrix of servers and clients: the metric where the pair worked, and why not elsewhere.
#'
#' Each number links to the folder of a run.
#'
#' @param figure list(cells, arms, metric) as in the study file
draw_matrix <- function(figure, study, data) {
  runs <- data$runs()
  chosen <- metric_of_figure(figure, study, runs)
  study <- chosen$study
  cells <- select_cells(study, figure$cells, figure_place(figure))$cell
  arms <- figure_arms(figure, unique(study$arm_table$arm))
  all_tiles <- speaking_tiles(matrix_tiles(study, chosen$runs, cells, arms))
  # A panel of one pair is a number, not a picture.
  single <- ave(seq_len(nrow(all_tiles)), all_tiles$panel, FUN = length) == 1L & nlevels(all_tiles$panel) > length(cells)
  # Unless there are no others.
  single <- single & !all(single)
  tiles <- droplevels(pick(all_tiles, !single))
  metric <- study$comparison$metric
  number <- is.finite(tiles$median)
  tiles$ink <- ifelse(number & matrix_share(tiles$median) > 0.6, "white", "black")
  plot <- ggplot2::ggplot(tiles, ggplot2::aes(.data$server, .data$client)) +
    ggplot2::geom_tile(
      ggplot2::aes(fill = .data$median),
      data = pick(tiles, number), width = 0.95, height = 0.92
    ) +
    blank_pairs(tiles, "failed", "white", "black", "dashed") +
    blank_pairs(tiles, "not supported", NOT_APPLICABLE_FILL, NA, "solid") +
    blank_pairs(tiles, NOT_MEASURED, "white", "grey80", "dotted") +
    ggplot2::geom_text(ggplot2::aes(label = linked(.data$text)), size = 2.1, family = FONT, colour = tiles$ink, lineheight = 0.9) +
    ggplot2::facet_grid(ggplot2::vars(.data$panel), scales = "free_y", space = "free_y") +
    ggplot2::scale_fill_gradient(
      low = "grey96", high = "grey15", limits = c(0, NA), name = with_unit(paste("Median", metric$short), metric$unit)
    ) +
    ggplot2::labs(x = "Server", y = "Client", caption = caption_text(c(single_key(pick(all_tiles, single), metric), matrix_key(tiles)))) +
    ggplot2::guides(x = ggplot2::guide_axis(angle = 30)) +
    theme_study() +
    ggplot2::theme(panel.grid = ggplot2::element_blank(), strip.text.y = ggplot2::element_text(angle = 0))
  drawn <- sized(plot, height = 4.6 * nrow(unique(data.frame(tiles$panel, tiles$client))) + 3 * nlevels(tiles$panel) + 42)
  c(drawn, list(links = tiles$path))
}

blank_pairs <- function(tiles, state, fill, colour, line) {
  ggplot2::geom_tile(
    data = pick(tiles, tiles$state == state), fill = fill, colour = colour, linetype = line, width = 0.95, height = 0.92, linewidth = 0.25
  )
}

#' Values as shares of the largest.
matrix_share <- function(values) values / max(values[is.finite(values)], 0)

#' Pairs that stand alone in their kind, in words.
single_key <- function(tiles, metric) {
  if (nrow(tiles) == 0L) {
    return("")
  }
  said <- ifelse(is.finite(tiles$median), with_unit(tiles$text, metric$unit), paste(tiles$state, tiles$reason))
  sprintf("Beside them: %s.", phrase(sprintf("%s, %s with %s: %s", tiles$panel, tiles$server, tiles$client, trimws(said)), 20L))
}

matrix_key <- function(tiles) {
  reasons <- function(state) {
    found <- pick(tiles, tiles$state == state & !is.na(tiles$reason) & nzchar(tiles$reason))
    if (nrow(found) == 0L) {
      return("")
    }
    where <- sprintf("%s with %s: %s", found$server, found$client, found$reason)
    sprintf("%s: %s.", first_upper(state), phrase(unique(where), 8L))
  }
  c("Numbers: medians of the loads that finished, with the number of those that did not.", reasons("failed"), reasons("not supported"))
}
