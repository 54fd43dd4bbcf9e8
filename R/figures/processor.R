# What figures of loads in virtual time say of the processor, which takes no time there.

uses("base/errors", "base/tables", "read/clocks", "read/labels", "read/processor", "read/selection", "figures/definition")

#' What the processor would add to the loads of a figure's data, as from `processor_shares`; no rows in real time.
processor_of_figure <- function(data) {
  runs <- data$runs()
  if (any(is_virtual(runs))) processor_shares(runs, data$processor()) else processor_shares(pick(runs, 0L), no_processor())
}

#' The lines of a caption: what the programs cost, and where that is much.
#'
#' @param marks does the figure mark cells and arms itself?
processor_key <- function(figure, study, shares, marks) {
  shown <- pick(shares, shares$cell %in% select_cells(study, figure$cells, figure_place(figure))$cell)
  arms <- unique(as.character(unlist(c(figure$arms, figure$pairs))))
  if (length(arms) > 0L) shown <- pick(shown, shown$arm %in% arms)
  c(processor_text(shown), costly_text(study, shown, marks))
}

#' Where the processor time is above COSTLY_SHARE of the load, in words; "" where nowhere.
costly_text <- function(study, shares, marks) {
  costly <- pick(shares, shares$costly %in% TRUE)
  if (nrow(costly) == 0L) {
    return("")
  }
  above <- sprintf("above %g %% of the load", 100 * COSTLY_SHARE)
  if (marks) {
    return(sprintf("%s: %s.", COSTLY, above))
  }
  of_cells <- length(unique(shares$cell))
  counts <- table(factor(costly$arm, intersect(study$arm_table$arm, costly$arm)))
  where <- sprintf("%s%s", arm_label(study, names(counts)), if (of_cells == 1L) "" else sprintf(" (%d of %d cells)", counts, of_cells))
  sprintf("%s: %s.", first_upper(above), phrase(where, 20L))
}
