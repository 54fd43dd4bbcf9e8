uses(
  "base/errors", "base/tables", "read/labels", "read/states", "statistics/rule", "statistics/tree",
  "figures/definition", "figures/theme"
)

#' Draw the decision tree, from left to right, with the exact answer of the cells beside the fit.
#'
#' @param figure list(arms) as in the study file
draw_tree <- function(figure, study, data) {
  winners <- data$statistics("winners", function() winner_table(data$index(), study))
  tree <- fit_tree(winners, study)
  if (is.null(tree)) {
    arms <- phrase(arm_label(study, figure_arms(figure, study$comparison$arms)))
    return(sized(empty_figure(sprintf("No cell has loads of all of %s, so there is no tree.", arms)), height = 30))
  }
  nodes <- tree_text(tree$nodes, study)
  leaves <- pick(nodes, nodes$leaf)
  unit <- level_width(leaves)
  plot <- ggplot2::ggplot() +
    tree_edges(nodes) +
    ggplot2::geom_text(
      ggplot2::aes(.data$depth + 1 / unit, -.data$x, label = .data$split_label),
      data = pick(nodes, !nodes$leaf), hjust = 0, size = 2.9, family = FONT, fontface = "bold"
    ) +
    draw_marks(leaf_marks(leaves, unit), study) +
    ggplot2::geom_text(
      ggplot2::aes(.data$depth + .data$marks * MARK_MM / unit, -.data$x, label = .data$leaf_label),
      data = leaves, hjust = 0, size = 2.9, family = FONT
    ) +
    ggplot2::scale_x_continuous(limits = c(0, TREE_WIDTH_MM / unit), expand = c(0, 0)) +
    ggplot2::scale_y_continuous(expand = ggplot2::expansion(add = 0.6)) +
    ggplot2::labs(caption = caption_text(tree_caption(tree, winners, study))) +
    ggplot2::theme_void(base_size = 8.5, base_family = FONT) +
    ggplot2::theme(
      plot.caption = ggplot2::element_text(size = 7, hjust = 0, colour = "grey25"), plot.caption.position = "plot",
      plot.margin = ggplot2::margin(3, 3, 3, 3)
    )
  sized(plot, height = max(28, 9 * nrow(leaves) + 18))
}

TREE_WIDTH_MM <- 164
MARK_MM <- 2.8
LETTER_MM <- 1.5

#' Width of one level of the tree, in mm, so that the longest leaf still ends within the figure.
level_width <- function(leaves) {
  room <- TREE_WIDTH_MM - leaves$marks * MARK_MM - nchar(leaves$leaf_label) * LETTER_MM
  min(28, room / pmax(leaves$depth, 1L))
}

#' One mark per winner of a leaf, side by side.
leaf_marks <- function(leaves, unit) {
  winners <- strsplit(ifelse(leaves$label == TIE, "", leaves$label), "+", fixed = TRUE)
  row <- rep(seq_len(nrow(leaves)), lengths(winners))
  number <- sequence(lengths(winners)) - 0.5
  data.table::data.table(
    depth = leaves$depth[row], x = leaves$x[row], arm = unlist(winners), offset = number * MARK_MM / unit
  )
}

draw_marks <- function(marks, study) {
  if (nrow(marks) == 0L) {
    return(list())
  }
  points <- ggplot2::geom_point(
    ggplot2::aes(.data$depth + .data$offset, -.data$x, colour = .data$arm, shape = .data$arm),
    data = marks, size = 2, show.legend = FALSE
  )
  c(list(points), arm_scales(study, study$arm_table$arm)[c(1, 3)])
}

#' Labels of the nodes.
tree_text <- function(nodes, study) {
  nodes <- data.table::copy(nodes)
  labels <- unique(study$factor_table[, c("factor", "label")])
  nodes$split_label <- labels$label[match(nodes$split, labels$factor)]
  nodes$marks <- ifelse(nodes$label == TIE, 0.5, lengths(strsplit(nodes$label, "+", fixed = TRUE)) + 0.2)
  nodes$leaf_label <- sprintf(
    "%s  (%s)", winner_label(study, nodes$label),
    ifelse(nodes$right == nodes$n, cell_count(nodes$n), sprintf("%d of %s", nodes$right, cell_count(nodes$n)))
  )
  nodes
}

#' Elbows from parent to child; the levels stand on the branch.
tree_edges <- function(nodes) {
  child <- pick(nodes, nodes$id != 1L)
  if (nrow(child) == 0L) {
    return(list())
  }
  child$parent_x <- nodes$x[match(child$id %/% 2L, nodes$id)]
  list(
    ggplot2::geom_segment(
      ggplot2::aes(x = .data$depth - 1, xend = .data$depth - 1, y = -.data$parent_x, yend = -.data$x),
      data = child, linewidth = 0.35, colour = "grey40"
    ),
    ggplot2::geom_segment(
      ggplot2::aes(x = .data$depth - 1, xend = .data$depth, y = -.data$x, yend = -.data$x),
      data = child, linewidth = 0.35, colour = "grey40"
    ),
    ggplot2::geom_text(
      ggplot2::aes(.data$depth - 0.96, -.data$x, label = .data$levels),
      data = child, hjust = 0, vjust = -0.45, size = 2.6, family = FONT, colour = "grey20"
    )
  )
}

#' How good the tree is, and what it leaves out.
tree_caption <- function(tree, winners, study) {
  counts <- sort(table(tree$cells$winners), decreasing = TRUE)
  absent <- sum(winners$winners == NOT_MEASURED)
  c(
    sprintf(
      "The tree gives the right answer in %d of %s (%.0f %%).", sum(tree$cells$winners == tree$cells$predicted),
      cell_count(nrow(tree$cells)), 100 * tree$accuracy
    ),
    sprintf("Winners by the rule: %s.", paste(winner_label(study, names(counts)), counts, sep = " ", collapse = ", ")),
    if (absent > 0L) sprintf("%s of %d %s, or %s.", cell_count(absent), nrow(winners), NOT_MEASURED, DISTURBED)
  )
}
