# One look for all figures: colours keyed by arm, a second carrier (line type, shape, number) for greyscale.

uses("base/tables", "read/labels")

FONT <- "Latin Modern Sans"
# Okabe and Ito's colours, which colour-blind readers can tell apart, the darkest first.
ARM_COLOURS <- c(
  "#000000", "#D55E00", "#0072B2", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7F7F7F", "#8C510A", "#5E3C99"
)
ARM_LINES <- c("solid", "dashed", "dotdash", "longdash", "dotted", "twodash", "44", "13", "1343", "73")
ARM_SHAPES <- c(16, 17, 15, 18, 3, 4, 8, 1, 2, 0)
FASTER <- "#2166AC"
EQUAL <- "#F7F7F7"
SLOWER <- "#B2182B"
NOT_APPLICABLE_FILL <- "#BDBDBD"

#' The styles of all arms: those of the paper's comparison first, so that they get the strongest ones.
#'
#' @return data.table: arm, label, colour, line, shape
arm_styles <- function(study) {
  arms <- unique(c(study$comparison$arms, study$arm_table$arm))
  i <- (seq_along(arms) - 1L) %% length(ARM_COLOURS) + 1L
  data.table::data.table(
    arm = arms, label = arm_label(study, arms), colour = ARM_COLOURS[i], line = ARM_LINES[i], shape = ARM_SHAPES[i]
  )
}

#' Scales of colour, line type and shape for some arms, with one common legend.
#'
#' @param width of the figure, millimetres: the legend has as many columns as fit
arm_scales <- function(study, arms, width = FIGURE_WIDTH) {
  styles <- arm_styles(study)
  styles <- pick(styles, match(arms, styles$arm))
  of_arms <- function(column) stats::setNames(styles[[column]], styles$arm)
  labels <- stats::setNames(styles$label, styles$arm)
  scale <- function(make, column) {
    guide <- ggplot2::guide_legend(ncol = legend_columns(styles$label, width))
    make(values = of_arms(column), labels = labels, breaks = arms, drop = FALSE, name = NULL, guide = guide)
  }
  list(
    scale(ggplot2::scale_colour_manual, "colour"), scale(ggplot2::scale_linetype_manual, "line"),
    scale(ggplot2::scale_shape_manual, "shape")
  )
}

#' Columns of a legend below a figure: as many as its longest label allows.
legend_columns <- function(labels, width) {
  column <- LEGEND_KEY + LEGEND_LETTER * max(nchar(labels))
  max(1L, min(length(labels), as.integer(floor((width - LEGEND_MARGIN) / column))))
}

# Millimetres: a key with its gaps, a letter of a legend's text on average, and what the axis takes.
LEGEND_KEY <- 13
LEGEND_LETTER <- 1.25
LEGEND_MARGIN <- 12
FIGURE_WIDTH <- 170

#' The theme of all figures, for a width of 170 mm in print.
theme_study <- function() {
  ggplot2::theme_bw(base_size = 8.5, base_family = FONT) +
    ggplot2::theme(
      panel.grid.minor = ggplot2::element_blank(),
      panel.grid.major = ggplot2::element_line(colour = "grey90", linewidth = 0.25),
      panel.border = ggplot2::element_rect(colour = "grey40", fill = NA, linewidth = 0.3),
      strip.background = ggplot2::element_blank(),
      strip.text = ggplot2::element_text(size = 8.5, hjust = 0, margin = ggplot2::margin(2, 0, 3, 0)),
      axis.ticks = ggplot2::element_line(colour = "grey40", linewidth = 0.3),
      legend.position = "bottom", legend.margin = ggplot2::margin(0, 0, 0, 0),
      legend.key.width = grid::unit(9, "mm"),
      plot.caption = ggplot2::element_text(size = 7, hjust = 0, colour = "grey25"),
      plot.caption.position = "plot", plot.margin = ggplot2::margin(3, 4, 3, 3)
    )
}

# Height of a line of a caption, millimetres.
CAPTION_LINE <- 3

#' The least and the most of counts, for a caption: `3`, or `3 to 10`.
range_text <- function(counts) paste(unique(range(counts)), collapse = " to ")

#' Wrap a remark to the width of a figure.
caption_text <- function(lines, width = 140L) {
  lines <- lines[nzchar(lines)]
  if (length(lines) == 0L) {
    return(NULL)
  }
  paste(unlist(lapply(lines, strwrap, width = width)), collapse = "\n")
}

#' A figure that says why there is nothing to draw.
empty_figure <- function(text) {
  ggplot2::ggplot() +
    ggplot2::annotate("text", x = 0, y = 0, label = caption_text(text, 80L), size = 3, family = FONT, colour = "grey25") +
    ggplot2::theme_void() +
    ggplot2::theme(panel.border = ggplot2::element_rect(colour = "grey60", fill = NA, linewidth = 0.3))
}

#' A drawn figure with its size in millimetres.
sized <- function(plot, width = FIGURE_WIDTH, height) list(plot = plot, width = width, height = height)
