# What a figure does not show, and why.

uses("base/errors", "base/tables", "read/censoring", "read/labels", "read/runs", "read/states")

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
