# What loads in virtual time leave out: the processor seconds of their programs, measured by the real clock
# (docs/formats.md, section 11).

uses("base/cli", "base/csv", "base/errors", "base/tables", "read/clocks", "read/runs")

#' From which share of its load on an arm's processor time is marked.
COSTLY_SHARE <- 0.1

#' The mark, in figures.
COSTLY <- "\u2020"

PROCESSOR_COLUMNS <- c("study", "cell", "arm", "cpu_server_s", "cpu_client_s", "machine")

#' Read tables of processor seconds.
#'
#' @param paths comma-separated paths of CSV files; NULL or empty: none
#' @return data.table, one row per cell in virtual time and arm: cell, arm, processor_s (of server and client in one load; NA:
#'   not known), machine (model of the processor, NA where not known)
read_processor <- function(paths, study) {
  parts <- lapply(split_list(paths), function(path) {
    if (!file.exists(path)) fail(path, "no such file", "Make it by scripts/measure_processor.py, or leave it out")
    missing <- setdiff(PROCESSOR_COLUMNS, csv_header(path))
    if (length(missing) > 0L) fail(path, sprintf("has no column '%s'", missing[1]), "Make it anew by scripts/measure_processor.py")
    table <- read_csv_file(path, c("study", "cell", "arm", "machine"), select = PROCESSOR_COLUMNS)
    table <- pick(table, table$study == study$study)
    data.table::data.table(
      cell = table$cell, arm = table$arm, machine = table$machine,
      processor_s = as.numeric(table$cpu_server_s) + as.numeric(table$cpu_client_s)
    )
  })
  data.table::rbindlist(c(list(no_processor()), parts), use.names = TRUE)
}

no_processor <- function() {
  data.table::data.table(cell = character(), arm = character(), machine = character(), processor_s = numeric())
}

#' What the processor would add to the loads in virtual time.
#'
#' @param runs as from `read_runs`
#' @param processor as from `read_processor`
#' @return data.table, one row per cell and arm with loads in virtual time: cell, arm, machine, processor_s,
#'   processor_share (of the median page load time of the loads that finished), costly (it is above COSTLY_SHARE); NA where not known
processor_shares <- function(runs, processor) {
  virtual <- pick(runs, is_virtual(runs))
  took <- ifelse(virtual$status == "ok", as.numeric(virtual$plt_s %||% NA), NA)
  key <- outcome_key(virtual$cell, virtual$arm)
  first <- which(!duplicated(key))
  medians <- vapply(split(took, key), stats::median, 0, na.rm = TRUE)
  known <- match(key[first], outcome_key(processor$cell, processor$arm))
  seconds <- processor$processor_s[known]
  share <- seconds / unname(medians[key[first]])
  data.table::data.table(
    cell = virtual$cell[first], arm = virtual$arm[first], machine = processor$machine[known], processor_s = seconds,
    processor_share = share, costly = share > COSTLY_SHARE
  )
}

#' Is an arm's processor time in a cell above COSTLY_SHARE of its load?
#'
#' @param shares as from `processor_shares`
is_costly <- function(shares, cell, arm) {
  outcome_key(cell, arm) %in% outcome_key(shares$cell, shares$arm)[shares$costly %in% TRUE]
}

#' What the processor would add, in a sentence; "" where nothing is in virtual time.
processor_text <- function(shares) {
  if (nrow(shares) == 0L) {
    return("")
  }
  known <- pick(shares, !is.na(shares$processor_s))
  if (nrow(known) == 0L) {
    return("What the programs cost the processor was not measured.")
  }
  few <- if (nrow(known) < nrow(shares)) sprintf(" (not known for %d of %d)", nrow(shares) - nrow(known), nrow(shares)) else ""
  sprintf(
    "Server and client used %s of a processor (%s) for a load, which virtual time leaves out%s.",
    milliseconds_text(known$processor_s), phrase(sort(unique(known$machine))), few
  )
}

#' The range of some seconds, in milliseconds.
milliseconds_text <- function(seconds) {
  ends <- unique(vapply(range(seconds), function(end) sprintf("%.0f", 1000 * end), ""))
  paste(paste(ends, collapse = " to "), "ms")
}
