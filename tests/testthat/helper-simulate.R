# Simulated runs: for tests only. Nothing here was measured.

#' The resolved study of the tests: three arms, 2 x 2 x 2 cells.
test_plan <- function(...) {
  level <- function(name, value) list(name = name, value = value)
  plan <- list(
    study = "made-up", title = "A study made up for tests", scale = "test", seed = 7, repetitions = 10, timeout_s = 60,
    paper = list(authors = "A. Nobody", title = "Nothing & more", venue = "Nowhere", year = 2000),
    factors = list(
      list(name = "bandwidth_mbit", label = "Bandwidth", unit = "Mbit/s", levels = list(level("2mbit", 2), level("50mbit", 50))),
      list(name = "loss_percent", label = "Loss", unit = "%", levels = list(level("loss0", 0), level("loss2", 2))),
      list(name = "object_size", label = "Object size", unit = "", levels = list(level("small", "small"), level("large", "large")))
    ),
    fixed = list(rtt_ms = 18, queue_ms = 200, mtu_bytes = 1500),
    arms = list(
      list(name = "one", label = "One", group = "A"), list(name = "two", label = "Two", group = "B"),
      list(name = "three", label = "Three (x_y)", group = "C")
    ),
    comparison = list(
      arms = list("one", "two", "three"), pairs = list(list("one", "two"), list("three", "one")),
      rule = list(share = 0.7, margin = 0.1), resamples = 200
    ),
    figures = list(
      list(
        name = "curves", kind = "cdf", title = "Curves", cells = list(bandwidth_mbit = 2, object_size = "small"),
        facet = "loss_percent"
      ),
      list(name = "map", kind = "heatmap", title = "Map", rows = list("bandwidth_mbit", "loss_percent"), columns = list("object_size")),
      list(name = "tree", kind = "tree", title = "Tree"), list(name = "links", kind = "calibration", title = "Links"),
      list(name = "failures", kind = "failures", title = "Failures"), list(name = "order", kind = "drift", title = "Order")
    ),
    claims = list(), differences = list(list(paper = "50 %", here = "a_b", why = "because"))
  )
  plan <- utils::modifyList(plan, list(...))
  plan$cells <- plan$cells %||% test_cells(plan$factors)
  plan
}

test_cells <- function(factors) {
  design <- design_table(factors)
  lapply(seq_len(nrow(design)), function(i) list(name = design$cell[i], not_applicable = list()))
}

#' The same plan, in which the cells without loss leave nothing to chance.
certain_plan <- function(...) {
  plan <- test_plan(...)
  plan$cells <- lapply(plan$cells, function(cell) c(cell, list(exact = grepl("loss0", cell$name, fixed = TRUE))))
  plan
}

#' Write a plan and read it as the analysis does.
as_study <- function(plan = test_plan()) read_study(write_plan(plan))

write_plan <- function(plan) {
  path <- tempfile(fileext = ".json")
  jsonlite::write_json(plan, path, auto_unbox = TRUE, digits = NA)
  path
}

#' Simulated runs of every cell and arm of a study.
#'
#' @param speed function(cell row, arm) -> median in seconds
#' @param spread standard deviation of the logarithm
simulate_runs <- function(study, repetitions = 10L, speed = function(cell, arm) 1, spread = 0.05, seed = 1L) {
  arms <- study$arm_table$arm
  grid <- data.table::CJ(cell = study$design$cell, repetition = seq_len(repetitions) - 1L, arm = arms, sorted = FALSE)
  cells <- pick(study$design, match(grid$cell, study$design$cell))
  middle <- vapply(seq_len(nrow(grid)), function(i) speed(cells[i, ], grid$arm[i]), 0)
  noise <- with_seed(seed, exp(spread * stats::rnorm(nrow(grid))))
  runs <- cbind(
    data.table::data.table(
      study = study$study, grid, block = grid$repetition %/% 5L, session = "s1", status = "ok", reason = NA_character_,
      plt_s = round(middle * noise, 6)
    ),
    cells[, -"cell"]
  )
  runs$order <- with_seed(seed, stats::ave(stats::runif(nrow(runs)), runs$cell, runs$repetition, FUN = rank)) - 1L
  runs$order <- as.integer(runs$order)
  runs
}

#' Turn some rows into loads that did not end well.
spoil <- function(runs, rows, status = "failed", reason = "connection refused") {
  runs <- data.table::copy(runs)
  rows <- as.integer(rows)
  data.table::set(runs, i = rows, j = "status", value = status)
  data.table::set(runs, i = rows, j = "reason", value = reason)
  data.table::set(runs, i = rows, j = "plt_s", value = NA_real_)
  runs
}

write_runs <- function(runs) {
  path <- tempfile(fileext = ".csv")
  data.table::fwrite(runs, path)
  path
}

#' Simulated runs as the analysis reads them.
as_runs <- function(runs, study) read_runs(write_runs(runs), study)

#' Outcomes named by repetition.
loads <- function(...) {
  values <- as.numeric(c(...))
  stats::setNames(values, seq_along(values) - 1L)
}

#' One arm's loads as a sample, all of one session and block unless said otherwise.
as_sample <- function(values, sessions = "s", blocks = sessions) {
  label <- function(labels) stats::setNames(rep_len(as.character(labels), length(values)), names(values))
  list(values = values, sessions = label(sessions), blocks = label(blocks), certain = FALSE)
}

#' Two samples of one block as a design compares them.
matched <- function(a, b, design) matched_samples(as_sample(a), as_sample(b), design)

#' Run a program of the analysis as a user does.
run_r <- function(program, arguments) {
  processx::run("Rscript", c(file.path(PROJECT_ROOT, "R", program), arguments), error_on_status = FALSE)
}

#' Text of the SVG of a study's first figure.
svg_of <- function(study, runs) {
  file <- tempfile(fileext = ".pdf")
  data <- figure_data(study, list(runs = write_runs(runs)))
  save_figure(draw_figure(study$figures[[1]], study, data), file)
  paste(readLines(sub("[.]pdf$", ".svg", file)), collapse = "\n")
}
