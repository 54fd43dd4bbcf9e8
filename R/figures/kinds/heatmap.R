# Heatmaps: every cell of the design for every pair of arms.

uses(
  "base/errors", "base/tables", "base/tolerance", "read/censoring", "read/labels", "read/runs", "read/processor",
  "read/selection", "read/states", "read/study", "statistics/comparisons", "statistics/medians",
  "statistics/own_comparisons", "figures/definition", "figures/panels", "figures/processor", "figures/protocols",
  "figures/save", "figures/theme", "figures/tiles"
)

#' What each tile shows.
#'
#' @param comparisons as from `compare_pairs`
#' @param silent_percent differences up to this carry no number
#' @param better `lower` or `higher`, of the metric
#' @return `comparisons` with shade (log2 ratio, negative: the first is better, bounded to the colour scale; NA: no colour), text,
#'   decided (by the
#'   rule), kind (`value`, `failed`: a median lies beyond the timeout, `not applicable`, `not measured`)
heatmap_tiles <- function(comparisons, silent_percent = ALIKE_PERCENT, better = "lower") {
  tiles <- data.table::copy(comparisons)
  beyond <- is_unfinished(tiles$median_a) | is_unfinished(tiles$median_b)
  tiles$kind <- ifelse(tiles$state == "measured" & !is.na(beyond) & beyond, "failed", tiles$state)
  tiles$kind[tiles$state == "measured" & tiles$kind != "failed"] <- "value"
  shade <- if (better == "higher") -log2(tiles$ratio) else log2(tiles$ratio)
  tiles$shade <- ifelse(tiles$kind == "value", pmax(-DARKEST_LOG2, pmin(DARKEST_LOG2, shade)), NA)
  tiles$text <- tile_text(tiles, silent_percent)
  tiles$decided <- tiles$kind %in% c("value", "failed") & tiles$rule != TIE
  tiles
}

#' Number of a tile: signed percent, or the factor where a percentage would be long; a star for significance.
tile_text <- function(tiles, silent_percent) {
  difference <- tiles$difference_percent
  number <- ifelse(
    difference >= 900, sprintf("\u00d7%.0f", tiles$ratio),
    sprintf("%s%.0f", ifelse(difference < 0, "\u2212", "+"), abs(difference))
  )
  silent <- abs(difference) <= silent_percent * (1 + RELATIVE_TOLERANCE)
  text <- paste0(ifelse(silent, "", number), ifelse(tiles$significant, "*", ""))
  one <- ifelse(is_unfinished(tiles$median_a), "+fail", "\u2212fail")
  who <- ifelse(is_unfinished(tiles$median_a) & is_unfinished(tiles$median_b), "both", one)
  ifelse(tiles$kind == "value", text, ifelse(tiles$kind == "failed", who, ifelse(tiles$kind == "not applicable", "n/a", "")))
}

#' Draw a heatmap of the study's comparisons, or of the figure's own where it names another metric or other pairs.
#'
#' The study's p-values are corrected over all of its comparisons, the figure's over those of the figure.
draw_heatmap <- function(figure, study, data) {
  if (!compares_itself(figure, study)) {
    make <- function() compare_pairs(data$index(), study, intervals = FALSE)
    return(draw_comparisons(figure, study, mark_costly(data$statistics("comparisons", make), data)))
  }
  own <- metric_of_figure(figure, study, data$runs())$study
  draw_comparisons(figure, own, mark_costly(own_comparisons(figure, study, data$runs()), data), "this figure")
}

#' Comparisons with `costly`: the processor would add much to a load of one of the two arms.
mark_costly <- function(comparisons, data) {
  shares <- processor_of_figure(data)
  costly <- is_costly(shares, comparisons$cell, comparisons$a) | is_costly(shares, comparisons$cell, comparisons$b)
  cbind(comparisons, costly = costly)
}

#' Draw one panel per pair.
#'
#' @param figure list(pairs, rows, columns, cells, silent_percent) as in the study file
#' @param comparisons as from `compare_pairs`; with a column `costly` as from `mark_costly`
#' @param family over what their p-values are corrected, in words
draw_comparisons <- function(figure, study, comparisons, family = "the study's comparisons") {
  cells <- select_cells(study, figure$cells, figure_place(figure))$cell
  silent <- as.numeric(figure$silent_percent %||% ALIKE_PERCENT)
  tiles <- heatmap_tiles(pick(comparisons, comparisons$cell %in% cells), silent, study$comparison$metric$better)
  pairs <- drawn_pairs(figure, study, tiles)
  tiles <- pick(tiles, outcome_key(tiles$a, tiles$b) %in% outcome_key(pairs$a, pairs$b))
  if (!any(tiles$state == "measured")) {
    return(sized(empty_figure("No pair of arms was measured in any cell."), height = 30))
  }
  axes <- heatmap_axes(figure, study, tiles)
  tiles <- cbind(tiles, axes$positions)
  columns <- min(4L, nrow(pairs))
  titles <- pair_titles(study, pairs, letters_across(axes$rows, columns))
  tiles$panel <- factor(titles[match(outcome_key(tiles$a, tiles$b), outcome_key(pairs$a, pairs$b))], levels = titles)
  bands <- ceiling(nrow(pairs) / columns)
  plot <- heatmap_plot(tiles, axes, columns, study, heatmap_key(tiles, study, silent, family))
  heading <- HEADING_SIZE * HEADING_LINE * max(lengths(strsplit(titles, "\n", fixed = TRUE)))
  drawn <- sized(plot, height = bands * (8 + heading + 5.6 * length(axes$rows)) + 30)
  c(drawn, list(links = heatmap_links(tiles, study), marks = TRUE))
}

# Millimetres: a letter of an axis on average, and what a heading of this size has of the usual one.
AXIS_LETTER <- 1.15
HEADING_SIZE <- 7 / 8.5

#' How many letters of a heading fit above a panel, beside the labels of its rows.
letters_across <- function(rows, columns) {
  heading_letters(columns, (FIGURE_WIDTH - LEGEND_MARGIN - AXIS_LETTER * max(nchar(rows))) / HEADING_SIZE)
}

#' Headings of the panels, in as many lines as it takes to show them whole.
pair_titles <- function(study, pairs, letters) {
  wrapped <- function(text) vapply(strwrap(text, letters + 1L, simplify = FALSE), paste, "", collapse = "\n")
  paste(wrapped(arm_label(study, pairs$a)), wrapped(paste("against", arm_label(study, pairs$b))), sep = "\n")
}

#' Pairs that get a panel: those of the figure, without arms that this scale or selection leaves out.
drawn_pairs <- function(figure, study, tiles) {
  pairs <- figure_pairs(figure, study)
  planned <- measured_arms(study, c(pairs$a, pairs$b))
  measured <- pick(tiles, tiles$state == "measured")
  there <- outcome_key(pairs$a, pairs$b) %in% outcome_key(measured$a, measured$b)
  pick(pairs, there | (pairs$a %in% planned & pairs$b %in% planned))
}

#' Where the number of a tile leads: to the run folders of its first arm; NA without runs.
heatmap_links <- function(tiles, study) {
  shown <- tiles$kind %in% c("value", "failed")
  ifelse(shown, file.path("runs", study$study, tiles$cell, tiles$a), NA_character_)
}

heatmap_plot <- function(tiles, axes, columns, study, key) {
  metric <- study$comparison$metric
  dark <- !is.na(tiles$shade) & abs(tiles$shade) > 0.6
  crossed <- pick(tiles, tiles$kind == "failed")
  # A tile without a number leads to its runs too.
  tiles$text <- ifelse(tiles$kind == "value" & tiles$text == "", "\u00b7", tiles$text)
  ggplot2::ggplot(tiles, ggplot2::aes(.data$column, .data$row)) +
    ggplot2::geom_tile(ggplot2::aes(fill = .data$shade), width = 0.94, height = 0.9, data = pick(tiles, tiles$kind == "value")) +
    blank_tiles(tiles, "not measured", "white", "grey80", "dotted") +
    blank_tiles(tiles, "not applicable", NOT_APPLICABLE_FILL, NA, "solid") +
    blank_tiles(tiles, "failed", "white", "black", "dashed") +
    ggplot2::geom_segment(
      ggplot2::aes(x = .data$column - 0.47, xend = .data$column + 0.47, y = .data$row - 0.45, yend = .data$row + 0.45),
      data = crossed, linewidth = 0.2, colour = "grey60"
    ) +
    ggplot2::geom_tile(
      width = 0.94, height = 0.9, fill = NA, colour = "black", linewidth = 0.45,
      data = pick(tiles, tiles$decided & tiles$kind == "value")
    ) +
    ggplot2::geom_text(
      ggplot2::aes(label = linked(.data$text)),
      size = 2.05, family = FONT, colour = ifelse(dark, "white", "black")
    ) +
    costly_marks(tiles, dark) +
    ggplot2::facet_wrap(ggplot2::vars(.data$panel), ncol = columns) +
    ggplot2::scale_x_continuous(breaks = seq_along(axes$columns), labels = axes$columns, expand = c(0, 0.1)) +
    ggplot2::scale_y_reverse(breaks = seq_along(axes$rows), labels = axes$rows, expand = c(0, 0.1)) +
    ggplot2::scale_fill_gradient2(
      low = FASTER, mid = EQUAL, high = SLOWER, limits = c(-DARKEST_LOG2, DARKEST_LOG2),
      breaks = shade_breaks(metric), labels = c("\u221250 %", "\u221225 %", "0", "+50 %", "+100 %"),
      name = sprintf("Median %s, first against second", metric$short)
    ) +
    ggplot2::guides(fill = ggplot2::guide_colourbar(theme = ggplot2::theme(
      legend.key.width = grid::unit(45, "mm"), legend.key.height = grid::unit(2.5, "mm"),
      legend.title.position = "top"
    ))) +
    ggplot2::labs(x = axes$column_title, y = axes$row_title, caption = caption_text(key)) +
    theme_study() +
    ggplot2::theme(
      panel.grid = ggplot2::element_blank(), panel.border = ggplot2::element_blank(),
      axis.ticks = ggplot2::element_blank(), strip.text = ggplot2::element_text(size = 8.5 * HEADING_SIZE, lineheight = 0.95),
      axis.text = ggplot2::element_text(size = 6.5), panel.spacing.x = grid::unit(2, "mm")
    )
}

#' A mark in the upper right corner of the tiles of which an arm costs much.
costly_marks <- function(tiles, dark) {
  marked <- tiles$kind == "value" & tiles$costly %in% TRUE
  ggplot2::geom_text(
    ggplot2::aes(x = .data$column + 0.37, y = .data$row - 0.22),
    data = pick(tiles, marked), label = COSTLY, size = 1.6, family = FONT, colour = ifelse(dark[marked], "white", "black")
  )
}

#' Shades of the ratios 0.5, 0.75, 1, 1.5 and 2.
shade_breaks <- function(metric) log2(c(0.5, 0.75, 1, 1.5, 2)) * (if (metric$better == "higher") -1 else 1)

blank_tiles <- function(tiles, kind, fill, colour, line) {
  ggplot2::geom_tile(
    data = pick(tiles, tiles$kind == kind), fill = fill, colour = colour, linetype = line,
    width = 0.94, height = 0.9, linewidth = 0.2
  )
}

#' What the signs in the tiles mean, for those that occur.
heatmap_key <- function(tiles, study, silent, family) {
  rule <- study$comparison$rule
  word <- comparative(study$comparison$metric)
  c(
    sprintf("Numbers in percent of the second, blue: the first is %s; no number: within %g %%.", word, silent),
    if (any(tiles$decided)) {
      sprintf("Framed: decided by the rule (%g %% of the comparisons at least %g %% %s).", 100 * rule$share, 100 * rule$margin, word)
    },
    significance_key(tiles, study, family),
    if (any(tiles$kind == "failed")) {
      "Crossed out: at least half of the loads of the first (+), the second (\u2212) or both did not finish."
    },
    if (any(tiles$kind == "not applicable")) "Grey, n/a: not applicable.",
    if (any(tiles$kind == "not measured")) EMPTY_TILE
  )
}

#' Rows and columns of the heatmap from combinations of levels.
#'
#' @return list(positions: data.table(column, row), rows, columns: labels, row_title, column_title)
heatmap_axes <- function(figure, study, tiles) {
  varying <- Filter(function(name) length(unique(tiles[[name]])) > 1L, factor_names(study))
  columns <- as.character(unlist(figure$columns %||% utils::tail(varying, 1L)))
  rows <- as.character(unlist(figure$rows %||% setdiff(varying, columns)))
  place <- figure_place(figure)
  missing <- setdiff(varying, c(rows, columns))
  if (length(missing) > 0L) fail(place, sprintf("neither rows nor columns name the factor '%s'", missing[1]), "Name it in one of them")
  unknown <- setdiff(c(rows, columns), factor_names(study))
  if (length(unknown) > 0L) fail(place, sprintf("no factor is called '%s'", unknown[1]), paste("Factors:", phrase(factor_names(study))))
  side <- function(factors, separator) {
    if (length(factors) == 0L) {
      return(list(position = rep(1L, nrow(tiles)), labels = ""))
    }
    labels <- lapply(factors, function(name) level_labels(study, name, tiles[[name]]))
    order <- do.call(base::order, labels)
    text <- do.call(paste, c(lapply(labels, as.character), sep = separator))
    list(position = match(text, unique(text[order])), labels = unique(text[order]))
  }
  title <- function(factors) {
    first <- match(factors, study$factor_table$factor)
    paste(study$factor_table$label[first], collapse = ", ")
  }
  across <- side(columns, "\n")
  down <- side(rows, ", ")
  list(
    positions = data.table::data.table(column = across$position, row = down$position),
    rows = down$labels, columns = across$labels, row_title = title(rows), column_title = title(columns)
  )
}
