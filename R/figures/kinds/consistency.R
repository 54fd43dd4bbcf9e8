# Do the clients of one server agree?

uses(
  "base/tables", "base/tolerance", "read/censoring", "read/labels", "read/runs", "read/selection", "read/states",
  "statistics/comparisons", "statistics/medians", "statistics/resampling", "figures/absent",
  "figures/definition", "figures/panels", "figures/protocols", "figures/theme"
)

#' Median of every client relative to the best client of the same server and protocol in the same cell.
#'
#' @return data.table: cell, arm, panel (server's group), median, percent (behind the best; in the direction in which
#'   the metric is worse), clients (how many of the protocol have a median there)
consistency_table <- function(study, runs, cells, arms) {
  index <- outcome_index(runs)
  grid <- data.table::CJ(cell = cells, arm = arms, sorted = FALSE)
  grid$median <- vapply(seq_len(nrow(grid)), function(i) {
    values <- outcomes_at(index, grid$cell[i], grid$arm[i])
    if (length(values) == 0L) NA_real_ else censored_median(values)
  }, 0)
  protocol <- protocol_label(arm_property(study, grid$arm, "protocol"))
  grid$panel <- arm_group(study, grid$arm)
  cost <- as_costs(grid$median, study$comparison$metric)
  place <- paste(grid$cell, grid$panel, protocol)
  best <- stats::ave(ifelse(is.na(cost), Inf, cost), place, FUN = min)
  grid$clients <- stats::ave(as.integer(!is.na(cost)), place, FUN = sum)
  grid$percent <- ifelse(is.finite(cost) & is.finite(best), 100 * (cost / best - 1), NA)
  grid
}

#' Draw one panel per server: clients of each protocol across, cells down.
#'
#' @param figure list(cells, arms, metric, silent_percent) as in the study file
draw_consistency <- function(figure, study, data) {
  runs <- data$runs()
  chosen <- metric_of_figure(figure, study, runs)
  study <- chosen$study
  runs <- chosen$runs
  cells <- select_cells(study, figure$cells, figure_place(figure))$cell
  arms <- figure_arms(figure, study$comparison$arms)
  table <- consistency_table(study, runs, cells, measured_arms(study, arms))
  measured <- cells[cells %in% table$cell[!is.na(table$median)]]
  if (length(measured) == 0L) {
    return(sized(empty_figure(absent_text(runs, study, cells, arms)), height = 30))
  }
  shown <- compared_cells(table, measured)
  tiles <- pick(table, table$cell %in% shown)
  tiles$cell <- factor(tiles$cell, levels = rev(shown))
  tiles$client <- client_labels(study, tiles$arm)
  silent <- as.numeric(figure$silent_percent %||% ALIKE_PERCENT)
  tiles$text <- consistency_text(tiles, silent)
  names <- stats::setNames(consistency_rows(study, shown), shown)
  dark <- !is.na(tiles$percent) & tiles$percent > DARKEST_PERCENT / 2
  plot <- ggplot2::ggplot(tiles, ggplot2::aes(.data$client, .data$cell)) +
    # The first layer decides the order on the axes; this one has all tiles.
    ggplot2::geom_blank() +
    ggplot2::geom_tile(
      ggplot2::aes(fill = pmin(.data$percent, DARKEST_PERCENT)),
      data = pick(tiles, !is.na(tiles$percent)), width = 0.94, height = 0.9
    ) +
    blank_clients(pick(tiles, is.na(tiles$median))) +
    ggplot2::geom_text(ggplot2::aes(label = .data$text), size = 2.05, family = FONT, colour = ifelse(dark, "white", "black")) +
    ggplot2::facet_wrap(ggplot2::vars(.data$panel), nrow = 1L, scales = "free_x") +
    ggplot2::scale_fill_gradient(
      low = "#F7F7F7", high = SLOWER, limits = c(0, DARKEST_PERCENT),
      name = sprintf("Median %s behind the best client (%%)", study$comparison$metric$short)
    ) +
    ggplot2::scale_y_discrete(labels = names) +
    ggplot2::labs(x = NULL, y = NULL, caption = caption_text(c(
      consistency_key(tiles, study, silent), left_out_text(length(measured) - length(shown))
    ))) +
    theme_study() +
    ggplot2::theme(
      panel.grid = ggplot2::element_blank(), panel.border = ggplot2::element_blank(), axis.ticks = ggplot2::element_blank(),
      axis.text.x = ggplot2::element_text(angle = 40, hjust = 1, size = 6.5), strip.text = ggplot2::element_text(size = 7.5)
    )
  sized(plot, height = 5.2 * length(shown) + 52)
}

#' Cells in which a client can be compared with another; all measured ones where there is none.
compared_cells <- function(table, measured) {
  compared <- measured[measured %in% table$cell[table$clients > 1L & !is.na(table$median)]]
  if (length(compared) > 0L) compared else measured
}

left_out_text <- function(cells) {
  if (cells > 0L) sprintf("%d cells with one client of each protocol are left out.", cells)
}

# Twice the best client's time is as dark as a tile gets.
DARKEST_PERCENT <- 100

blank_clients <- function(tiles) {
  ggplot2::geom_tile(data = tiles, fill = "white", colour = "grey80", linetype = "dotted", width = 0.94, height = 0.9, linewidth = 0.2)
}

#' Protocol and client of arms with the options that the client has alone, in the order of the figure; arms without a client are
#' called by their label.
client_labels <- function(study, arms) {
  clients <- arm_property(study, arms, "client")
  both <- sprintf("%s, %s%s", toupper(arm_property(study, arms, "protocol")), clients, own_options_text(study, arms))
  clients <- ifelse(nzchar(clients), both, arm_label(study, arms))
  factor(clients, levels = unique(clients))
}

#' What a client is told and its server is not: ", group P-256"; empty where there is nothing.
own_options_text <- function(study, arms) {
  texts <- vapply(study$arms, function(arm) {
    own <- arm$own_options$client
    paste0(sprintf(", %s %s", gsub("_", " ", names(own), fixed = TRUE), vapply(own, as.character, "")), collapse = "")
  }, "")
  texts[match(as.character(arms), vapply(study$arms, `[[`, "", "name"))]
}

consistency_text <- function(tiles, silent) {
  number <- sprintf("+%.0f", tiles$percent)
  unfinished <- !is.na(tiles$median) & is.na(tiles$percent)
  ifelse(is.na(tiles$median), "", ifelse(unfinished, "fail", ifelse(
    tiles$clients < 2L, "alone", ifelse(tiles$percent <= silent * (1 + RELATIVE_TOLERANCE), "", number)
  )))
}

#' Rows of the figure in words: only the factors in which they differ.
consistency_rows <- function(study, cells) {
  rows <- shown_cells(study, cells)
  if (length(cells) == 1L) cell_title(study, cells) else rows
}

consistency_key <- function(tiles, study, silent) {
  counts <- sprintf("Numbers in percent behind the best client; no number: within %g %%.", silent)
  c(
    counts,
    if (any(tiles$text == "alone")) "alone: no other client of the protocol was measured there.",
    if (any(tiles$text == "fail")) "fail: at least half of the loads did not finish.",
    if (anyNA(tiles$median)) EMPTY_TILE
  )
}
