# Tables of single loads for tests, written as the extraction writes them. Nothing here was measured.

#' A study with two servers, each with HTTP/3 and HTTP/2, and one figure.
server_study <- function(...) {
  plan <- test_plan()
  arm <- function(name, label, group, protocol, client) {
    list(name = name, label = label, group = group, protocol = protocol, server = tolower(group), client = client)
  }
  plan$arms <- list(
    arm("a-h3", "A, H3", "A", "h3", "c1"), arm("a-h2", "A, H2", "A", "h2", "c2"),
    arm("b-h3", "B, H3", "B", "h3", "c1"), arm("b-h3-other", "B, H3 (other)", "B", "h3", "c3")
  )
  plan$comparison <- list(
    arms = list("a-h3", "a-h2", "b-h3"), pairs = list(list("a-h3", "a-h2")), rule = list(share = 0.7, margin = 0.1), resamples = 200
  )
  plan$cells <- lapply(plan$cells, function(cell) c(cell, list(link = list(rtt_ms = 20))))
  plan$figures <- list(list(name = "figure", title = "A figure", ...))
  as_study(plan)
}

CELL <- "2mbit-loss0-small"

#' Write runs and tables of details where the pipeline has them.
#'
#' @param tables named list of data.tables with cell, arm and repetition
#' @return path of the table of runs of one cell
write_cell <- function(study, tables, runs = simulate_runs(study, 3L), cell = CELL) {
  folder <- tempfile()
  block <- file.path(folder, cell, "0")
  dir.create(block, recursive = TRUE)
  for (name in names(tables)) {
    rows <- cbind(study = study$study, cell = cell, block = 0L, tables[[name]])
    data.table::fwrite(rows, file.path(block, paste0(name, ".csv")))
  }
  path <- file.path(folder, paste0(cell, ".csv"))
  data.table::fwrite(pick(runs, runs$cell == cell), path)
  path
}

#' The data of figures, read from a table of runs and what lies beside it.
data_at <- function(study, path) figure_data(study, list(runs = path))

#' Draw the study's only figure; the text of its SVG.
picture_of <- function(study, path) {
  file <- tempfile(fileext = ".pdf")
  save_figure(draw_figure(study$figures[[1]], study, data_at(study, path)), file)
  paste(readLines(sub("pdf$", "svg", file)), collapse = "\n")
}

#' A table of every arm and of some repetitions.
of_arms <- function(arms, make, repetitions = 0L) {
  data.table::rbindlist(lapply(arms, function(arm) {
    data.table::rbindlist(lapply(repetitions, function(repetition) {
      cbind(arm = arm, repetition = repetition, data.table::as.data.table(make(arm, repetition)))
    }))
  }))
}
