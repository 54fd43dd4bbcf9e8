#' Compute and write all tables of statistics of a study.
#'
#' @param runs as from `read_runs`
#' @param study resolved study
#' @param folder where `<table>.csv` are written
write_statistics <- function(runs, study, folder) {
  index <- outcome_index(runs)
  comparisons <- compare_pairs(index, study)
  winners <- winner_table(index, study)
  tables <- list(
    summary = summarise_runs(runs, study),
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
  for (name in names(tables)) write_table(tables[[name]], folder, name)
  invisible(tables)
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

PROGRAM_COLUMNS <- c(
  "protocol", "server", "server_version", "client", "client_version", "congestion_control", "connection"
)

#' What the runs table itself says about each arm: protocol, programs, congestion control, and the span of time.
#'
#' @return data.table, one row per arm: arm, n, from, to (Unix time of the first and last load, NA where not known),
#'   sessions, blocks, and those of PROGRAM_COLUMNS that the table has
program_table <- function(runs) {
  known <- intersect(PROGRAM_COLUMNS, names(runs))
  started <- if ("started" %in% names(runs)) as.numeric(runs$started) else rep(NA_real_, nrow(runs))
  one <- function(values) paste(sort(unique(values[!is.na(values)])), collapse = ", ")
  data.table::rbindlist(lapply(split(seq_len(nrow(runs)), runs$arm), function(rows) {
    times <- started[rows][!is.na(started[rows])]
    c(
      list(
        arm = runs$arm[rows[1]], n = length(rows),
        from = if (length(times) > 0L) min(times) else NA_real_, to = if (length(times) > 0L) max(times) else NA_real_,
        sessions = length(unique(runs$session[rows])), blocks = nrow(unique(runs[rows, c("cell", "block")]))
      ),
      lapply(stats::setNames(known, known), function(column) one(as.character(runs[[column]][rows])))
    )
  }))
}

#' Read a statistics table back.
read_statistics <- function(folder, name) {
  path <- file.path(folder, paste0(name, ".csv"))
  if (!file.exists(path)) fail(path, "no such file", "Run R/run_statistics.R first and give its --output here")
  # Columns of text that may look like numbers or be empty throughout.
  text <- c("cells", "session", "paper", "reason", "note", "winners", "levels", "missing", "against", "why", "where", PROGRAM_COLUMNS)
  header <- names(data.table::fread(path, nrows = 0L))
  data.table::fread(path, na.strings = "", colClasses = list(character = intersect(text, header)))
}
