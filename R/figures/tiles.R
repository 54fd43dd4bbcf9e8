# What the tiles of heatmaps have in common.

uses("base/tables", "read/study", "statistics/adjust")

#' What the stars mean, or why there are none.
significance_key <- function(tiles, study, of = "the study's comparisons") {
  comparison <- study$comparison
  method <- ADJUSTMENTS[[comparison$adjust]]
  if (any(tiles$significant)) {
    certain <- if (any(tiles$certain %in% TRUE)) "; of loads that leave nothing to chance: different" else ""
    percent <- 100 * (1 - comparison$confidence)
    return(sprintf("*: significant at %g %% after the correction by %s over all of %s%s.", percent, method, of, certain))
  }
  why <- if (can_be_significant(tiles, study)) "" else " (with so few loads per cell none can be)"
  sprintf("No tile is significant after the correction by %s over all of %s%s.", method, of, why)
}

#' Could the smallest p-value that so many loads can have survive the correction, were all others as small?
can_be_significant <- function(tiles, study) {
  tested <- pick(tiles, !is.na(tiles$p))
  n_a <- tested$n_a
  n_b <- tested$n_b
  smallest <- if (study$comparison$design == "paired") 2^(1 - pmin(n_a, n_b)) else 2 / choose(n_a + n_b, n_a)
  any(is_significant(adjust_p(pmin(smallest, 1), study$comparison$adjust), study$comparison))
}

# A tile is as dark as it gets at half or twice the other arm's median.
DARKEST_LOG2 <- 1
