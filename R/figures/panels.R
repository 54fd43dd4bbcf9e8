# What tells the panels of a figure apart, and the numbers in them.

uses("base/tables", "read/labels", "read/study", "figures/theme")

#' Title of each panel: the level of the factor that the panels differ in, or the whole cell.
panel_titles <- function(study, cells, facet) {
  factors <- if (is.null(facet)) factor_names(study) else as.character(unlist(facet))
  if (length(factors) == 0L) rep("", length(cells)) else unname(cell_title_long(study, cells, factors))
}

#' Height of so many panels in rows of so many, with the legend and the caption.
panel_height <- function(panels, columns, each = 52, rest = 24) ceiling(panels / columns) * each + rest

#' Cells in words: the factors that differ among those shown; one cell gives "".
shown_cells <- function(study, cells) {
  cells <- as.character(cells)
  design <- pick(study$design, match(unique(cells), study$design$cell))
  varying <- Filter(function(name) length(unique(design[[name]])) > 1L, factor_names(study))
  if (length(varying) == 0L) {
    return(rep("", length(cells)))
  }
  unname(cell_title_long(study, cells, varying))
}

#' An axis of arms across: labels of two lines side by side, or upright where they do not fit.
#'
#' @param arms names of those that are shown
#' @param width of the panel, millimetres
#' @return list(parts of a plot, height: what they take more than two lines, millimetres)
arms_across <- function(study, arms, width = FIGURE_WIDTH - 30) {
  labels <- arm_label(study, arms)
  lines <- gsub(" [(]", "\n(", labels)
  longest <- max(nchar(unlist(strsplit(lines, "\n", fixed = TRUE))), 1L)
  upright <- longest * ARM_LETTER * length(arms) > width
  shown <- stats::setNames(if (upright) labels else lines, arms)
  scale <- ggplot2::scale_x_discrete(labels = function(names) unname(shown[names]), drop = FALSE)
  if (!upright) {
    return(list(parts = list(scale), height = 0))
  }
  turned <- ggplot2::element_text(angle = 90, hjust = 1, vjust = 0.5)
  list(parts = list(scale, ggplot2::theme(axis.text.x = turned)), height = ARM_LETTER * max(nchar(labels)))
}

# Millimetres: a letter of an arm's label on an axis on average.
ARM_LETTER <- 1.25

# Millimetres: a letter of a panel's heading on average, and a line of it.
HEADING_LETTER <- 1.4
HEADING_LINE <- 3.5

#' How many letters of a heading fit above one of so many panels side by side.
heading_letters <- function(columns, width = FIGURE_WIDTH - 14) max(8L, as.integer(floor(width / columns / HEADING_LETTER)))

#' A labeller that shows headings whole, in as many lines as it takes.
wrap_to_panels <- function(columns) ggplot2::label_wrap_gen(heading_letters(columns))

#' What headings need beyond one line, millimetres.
extra_heading <- function(titles, columns) {
  HEADING_LINE * (max(lengths(strwrap(titles, heading_letters(columns) + 1L, simplify = FALSE))) - 1L)
}
