# Empirical distributions.

#' Points of empirical distribution functions.
#'
#' Loads that did not finish count in n and never come to an end, so such a curve stays below 1.
#'
#' @param runs as from `read_runs`
#' @param cells,arms names; what was not measured gives no rows
#' @return data.table: cell, arm, n, value, share (of loads that took at most `value`); starts with share 0
ecdf_points <- function(runs, cells, arms) {
  grid <- expand.grid(cell = cells, arm = arms, stringsAsFactors = FALSE)
  points <- lapply(seq_len(nrow(grid)), function(i) {
    values <- outcomes(runs, grid$cell[i], grid$arm[i])
    finished <- sort(unname(values[is.finite(values)]))
    if (length(finished) == 0L) {
      return(NULL)
    }
    data.table::data.table(
      cell = grid$cell[i], arm = grid$arm[i], n = length(values),
      value = c(finished[1], finished), share = c(0, seq_along(finished) / length(values))
    )
  })
  none <- data.table::data.table(cell = character(), arm = character(), n = integer(), value = numeric(), share = numeric())
  data.table::rbindlist(c(list(none), points))
}

#' Draw the distributions of some cells, one panel per cell.
#'
#' @param figure list(cells = selection, arms, facet) as in the study file
#' @return list(plot, width, height)
draw_cdf <- function(figure, study, runs) {
  cells <- select_cells(study, figure$cells, figure_place(figure))$cell
  arms <- figure_arms(figure, study$comparison$arms)
  points <- ecdf_points(runs, cells, arms)
  absent <- absent_text(runs, study, cells, arms)
  if (nrow(points) == 0L) {
    return(sized(empty_figure(absent), height = 30))
  }
  shown <- cells[cells %in% points$cell]
  titles <- panel_titles(study, cells, figure$facet)
  points$panel <- factor(titles[match(points$cell, cells)], levels = unique(titles[match(shown, cells)]))
  points$arm <- factor(points$arm, levels = arms)
  # A curve of loads of which some did not finish goes on to the edge of its panel below 1.
  ends <- tapply(points$value, points$panel, max)
  last <- pick(points, !duplicated(points[, c("panel", "arm")], fromLast = TRUE))
  last$value <- ifelse(last$share < 1, unname(ends[as.character(last$panel)]) * 1.04, last$value)
  metric <- study$comparison$metric
  plot <- ggplot2::ggplot(
    rbind(points, last),
    ggplot2::aes(.data$value, .data$share, colour = .data$arm, linetype = .data$arm)
  ) +
    ggplot2::geom_step(linewidth = 0.6) +
    ggplot2::facet_wrap(ggplot2::vars(.data$panel), scales = "free_x", ncol = min(2L, length(shown))) +
    ggplot2::scale_x_continuous(limits = c(0, NA), expand = ggplot2::expansion(c(0, 0.02))) +
    ggplot2::scale_y_continuous(limits = c(0, 1), breaks = seq(0, 1, 0.25)) +
    arm_scales(study, arms)[1:2] +
    ggplot2::labs(
      x = with_unit(metric$label, metric$unit), y = "Share of loads",
      caption = caption_text(c(count_text(points), absent))
    ) +
    theme_study() +
    ggplot2::theme(panel.spacing.x = grid::unit(5, "mm"))
  sized(plot, width = if (length(shown) == 1L) 105 else FIGURE_WIDTH, height = 62 * ceiling(length(shown) / 2) + 18)
}

#' Title of each panel: the level of the factor that the panels differ in, or the whole cell.
panel_titles <- function(study, cells, facet) {
  factors <- if (is.null(facet)) factor_names(study) else as.character(unlist(facet))
  if (length(factors) == 0L) rep("", length(cells)) else unname(cell_title_long(study, cells, factors))
}

cell_title_long <- function(study, cells, factors) {
  rows <- pick(study$design, match(cells, study$design$cell))
  do.call(paste, c(lapply(factors, function(name) {
    label <- study$factor_table$label[match(name, study$factor_table$factor)]
    paste(label, level_labels(study, name, rows[[name]]))
  }), sep = ", "))
}

#' `n = 100 loads per curve` or the range.
count_text <- function(points) {
  range <- unique(range(points$n))
  sprintf("n = %s %s per curve.", paste(range, collapse = " to "), if (max(range) == 1L) "load" else "loads")
}

#' What of a figure's cells and arms has no finished load, in words; "" if nothing is missing.
absent_text <- function(runs, study, cells, arms) {
  grid <- expand.grid(arm = arms, cell = cells, stringsAsFactors = FALSE)
  have <- outcome_key(runs$cell, runs$arm)
  valid <- have[!is.na(runs$value)]
  finished <- have[!is.na(runs$value) & !is_unfinished(runs$value)]
  excluded <- outcome_key(study$excluded$cell, study$excluded$arm)
  key <- outcome_key(grid$cell, grid$arm)
  gap <- ifelse(key %in% excluded, "not applicable", NOT_MEASURED)
  gap <- ifelse(key %in% have, DISTURBED, gap)
  state <- ifelse(key %in% finished, "", ifelse(key %in% valid, "no load finished", gap))
  kinds <- c(NOT_MEASURED, DISTURBED, "not applicable", "no load finished")
  parts <- vapply(kinds, function(kind) {
    here <- pick(grid, state == kind)
    whole <- names(which(table(here$cell) == length(arms)))
    rest <- pick(here, !here$cell %in% whole)
    words <- c(whole[order(match(whole, cells))], paste(arm_label(study, rest$arm), "in", rest$cell)[seq_len(nrow(rest))])
    if (length(words) == 0L) "" else sprintf("%s: %s.", first_upper(kind), phrase(words))
  }, "")
  paste(parts[nzchar(parts)], collapse = " ")
}

first_upper <- function(text) paste0(toupper(substr(text, 1, 1)), substring(text, 2))
