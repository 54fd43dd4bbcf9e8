# Corrections for many tests.

#' p-values corrected over the whole family; tests that could not be made stay out of it.
#'
#' @param method `holm` (Scand. J. Stat. 6, 1979: family-wise error) or `bh` (J. R. Stat. Soc. B 57, 1995: false discovery rate)
adjust_p <- function(p, method) stats::p.adjust(p, c(holm = "holm", bh = "BH")[[method]])

#' Is it significant at the study's confidence?
is_significant <- function(p_adjusted, comparison) !is.na(p_adjusted) & p_adjusted <= 1 - comparison$confidence
