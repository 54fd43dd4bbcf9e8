# A figure as the study file defines it.

uses("base/errors")

#' Where a figure stands in the study file, for messages.
figure_place <- function(figure) sprintf("figure '%s'", figure$name)

#' Arms of a figure, or the default.
figure_arms <- function(figure, default) {
  arms <- as.character(unlist(figure$arms))
  if (length(arms) == 0L) default else arms
}

#' Pairs of a figure, or those of the comparison.
figure_pairs <- function(figure, study) {
  given <- as.character(unlist(figure$pairs))
  if (length(given) == 0L) {
    return(study$comparison$pair_table)
  }
  pairs <- matrix(given, ncol = 2L, byrow = TRUE)
  data.table::data.table(a = pairs[, 1], b = pairs[, 2])
}

#' The definition of a figure by name.
find_figure <- function(study, name) {
  names <- vapply(study$figures, `[[`, "", "name")
  if (!name %in% names) fail("--figure", sprintf("the study has no figure '%s'", name), paste("Its figures:", phrase(names, 30L)))
  study$figures[[match(name, names)]]
}
