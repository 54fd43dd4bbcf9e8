# Blocking factors: which loads belong together, and which were measured under the same circumstances.

# A session with fewer loads of an arm says too little of its own spread to be resampled by itself.
SMALLEST_STRATUM <- 5L

#' Add `pair`, `session_of` and `block_of` to a table of runs.
#'
#' Within one measurement the repetition says which loads belong together. Tables of several machines or days hold
#' every repetition several times; then the machine, the session or both belong to the name of the pair.
add_blocks <- function(runs) {
  machine <- blocking_column(runs, "machine")
  session <- blocking_column(runs, "session")
  repetition <- as.character(runs$repetition)
  names <- list(
    repetition, paste(machine, repetition, sep = "/"), paste(session, repetition, sep = "/"),
    paste(machine, session, repetition, sep = "/")
  )
  # The last is always unique: reading refuses a load that is given twice.
  unique_name <- vapply(names, function(pair) !anyDuplicated(paste(runs$cell, runs$arm, pair, sep = "\t")), TRUE)
  data.table::set(runs, j = "pair", value = names[[c(which(unique_name), length(names))[1]]])
  data.table::set(runs, j = "session_of", value = ifelse(machine == "", session, paste(machine, session, sep = "/")))
  data.table::set(runs, j = "block_of", value = paste(machine, session, runs$block, sep = "/"))
}

#' A column that may be absent or empty, as text.
blocking_column <- function(runs, name) {
  values <- as.character(runs[[name]] %||% rep("", nrow(runs)))
  ifelse(is.na(values), "", values)
}

#' Strata to resample within: the sessions, if there are several and each has enough loads; otherwise one.
#'
#' @param labels session of each value
#' @return integer vector of the same length
resampling_strata <- function(labels) {
  strata <- match(labels, unique(labels))
  if (length(strata) == 0L || min(table(strata)) < SMALLEST_STRATUM) rep(1L, length(strata)) else strata
}

#' Strata in which two samples can be compared: blocks, else sessions, else everything.
#'
#' @param blocks,sessions lists of labels of the values of a and b
#' @return list(level, a, b): the finest level at which some stratum has loads of both
comparable_strata <- function(blocks, sessions) {
  for (level in c("block", "session")) {
    labels <- if (level == "block") blocks else sessions
    if (length(intersect(labels[[1]], labels[[2]])) > 0L) {
      return(list(level = level, a = unname(labels[[1]]), b = unname(labels[[2]])))
    }
  }
  list(level = "none", a = rep("", length(blocks[[1]])), b = rep("", length(blocks[[2]])))
}
