uses(
  "base/files", "read/clocks", "read/details", "read/processor", "read/runs", "read/statistics", "statistics/checks", "statistics/claims",
  "statistics/comparisons", "statistics/drawn", "statistics/failures", "statistics/intervals", "statistics/overall",
  "statistics/rule", "statistics/tree"
)

#' Compute and write all tables of statistics of a study.
#'
#' @param runs as from `read_runs`
#' @param study resolved study
#' @param folder where `<table>.csv` are written
#' @param processor as from `read_processor`
#' @param details function: the table of single loads of that name, as from `read_details`; without them no object is told
write_statistics <- function(runs, study, folder, processor = no_processor(), details = function(name) no_details()) {
  index <- outcome_index(runs)
  comparisons <- compare_pairs(index, study)
  winners <- winner_table(index, study)
  tables <- list(
    summary = with_processor(summarise_runs(runs, study), runs, processor),
    comparisons = comparisons,
    overall = summarise_pairs(index, study, comparisons),
    winners = winners,
    tree = tree_table(winners, study),
    claims = evaluate_claims(runs, study),
    failures = failure_table(runs),
    missing = missing_table(runs, study),
    sessions = session_table(runs),
    checks = check_runs(runs, study),
    programs = program_table(runs)
  )
  tables <- c(tables, drawn_tables(study, runs, list(runs = function() runs, details = details)))
  for (name in names(tables)) write_table(tables[[name]], folder, name)
  invisible(tables)
}

#' A summary with what the processor would add to loads in virtual time: processor_s, and processor_share of the median load time.
#'
#' @param summary as from `summarise_runs`; of a cell in real time both are NA
with_processor <- function(summary, runs, processor) {
  shares <- processor_shares(runs, processor)
  known <- match(outcome_key(summary$cell, summary$arm), outcome_key(shares$cell, shares$arm))
  cbind(summary, shares[known, c("processor_s", "processor_share")])
}

#' Nodes of the tree as a table, with the accuracy in every row; no rows without a tree.
tree_table <- function(winners, study) {
  tree <- fit_tree(winners, study)
  if (is.null(tree)) {
    return(data.table::data.table(
      id = integer(), depth = numeric(), leaf = logical(), variable = character(), levels = character(),
      split = character(), label = character(), n = integer(), right = integer(), x = numeric(), accuracy = numeric()
    ))
  }
  cbind(tree$nodes, accuracy = tree$accuracy)
}

#' What the runs table itself says about each arm: protocol, programs, congestion control, and the span of time.
#'
#' @return data.table, one row per arm: arm, n, from, to (Unix time of the first and last load, NA where not known),
#'   sessions, blocks, unjudged (loads whose delays by other programs nobody judged), virtual (loads in virtual time),
#'   and those of PROGRAM_COLUMNS that the table has
program_table <- function(runs) {
  known <- intersect(PROGRAM_COLUMNS, names(runs))
  started <- if ("started" %in% names(runs)) as.numeric(runs$started) else rep(NA_real_, nrow(runs))
  virtual <- is_virtual(runs)
  # Their dates are those of a clock that starts anew for each load.
  started[virtual] <- NA_real_
  judged <- if ("delays_judged" %in% names(runs)) tolower(runs$delays_judged) else rep("", nrow(runs))
  one <- function(values) paste(sort(unique(values[!is.na(values)])), collapse = ", ")
  data.table::rbindlist(lapply(split(seq_len(nrow(runs)), runs$arm), function(rows) {
    times <- started[rows][!is.na(started[rows])]
    c(
      list(
        arm = runs$arm[rows[1]], n = length(rows),
        from = if (length(times) > 0L) min(times) else NA_real_, to = if (length(times) > 0L) max(times) else NA_real_,
        sessions = length(unique(runs$session[rows])), blocks = nrow(unique(runs[rows, c("cell", "block")])),
        unjudged = sum(judged[rows] %in% "false"), virtual = sum(virtual[rows])
      ),
      lapply(stats::setNames(known, known), function(column) one(as.character(runs[[column]][rows])))
    )
  }))
}
