# What figures of medians say below the drawing.

uses("figures/absent", "figures/theme")

#' What the intervals are and what is missing, for the caption.
metric_key <- function(table, study, runs, cells, arms) {
  c(
    sprintf("Medians with intervals of %g %%.", 100 * study$comparison$confidence),
    sprintf("n = %s loads each.", range_text(table$n)),
    if (any(is.infinite(table$high))) "Intervals that go on beyond the panel: some loads did not finish.",
    absent_text(runs, study, cells, arms)
  )
}
