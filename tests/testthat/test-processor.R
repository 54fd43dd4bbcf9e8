# What loads in virtual time leave out: shares, marks, and what is said of them.

#' A table of processor seconds of every cell and arm; `seconds` by arm.
processor_file <- function(study, seconds = c(one = 0.05, two = 0.2, three = NA)) {
  table <- data.table::CJ(cell = study$design$cell, arm = study$arm_table$arm, sorted = FALSE)
  table <- cbind(
    study = study$study, table,
    cpu_server_s = 0, cpu_client_s = unname(seconds[table$arm]), machine = "A processor"
  )
  path <- tempfile(fileext = ".csv")
  data.table::fwrite(table, path)
  path
}

virtual_runs <- function(study, cells = study$design$cell) {
  runs <- simulate_runs(study, 3L, spread = 0)
  runs$clock <- ifelse(runs$cell %in% cells, "virtual", "real")
  runs
}

#' A figure of the study as it is drawn from these runs.
drawn_figure <- function(study, kind, runs, processor = NULL) {
  figure <- Filter(function(figure) figure$kind == kind, study$figures)[[1]]
  draw_figure(figure, study, figure_data(study, list(runs = write_runs(runs), processor = processor)))
}

caption_of <- function(drawn) gsub("\n", " ", drawn$plot$labels$caption)

with_bars <- function() {
  plan <- test_plan()
  plan$figures <- c(plan$figures, list(list(name = "bars", kind = "bars", title = "Bars")))
  as_study(plan)
}

test_that("the share is of the median of finished loads, and only of loads in virtual time", {
  study <- as_study()
  runs <- virtual_runs(study, study$design$cell[1])
  runs$plt_s <- ifelse(runs$repetition == 0L, 4, 1)
  runs <- spoil(runs, which(runs$arm == "one" & runs$repetition == 0L))
  shares <- processor_shares(as_runs(runs, study), read_processor(processor_file(study), study))
  expect_identical(unique(shares$cell), study$design$cell[1])
  expect_equal(stats::setNames(shares$processor_share, shares$arm)[c("one", "two")], c(one = 0.05, two = 0.2))
  expect_identical(stats::setNames(shares$costly, shares$arm)[c("one", "two", "three")], c(one = FALSE, two = TRUE, three = NA))
  expect_identical(nrow(processor_shares(as_runs(simulate_runs(study, 3L), study), no_processor())), 0L)
})

test_that("the summary has what the processor would add, and nothing of it in real time", {
  study <- as_study()
  folder <- tempfile()
  processor <- read_processor(processor_file(study), study)
  write_statistics(as_runs(virtual_runs(study, study$design$cell[1]), study), study, folder, processor)
  summary <- read_statistics(folder, "summary")
  there <- summary$cell == study$design$cell[1] & summary$arm != "three"
  expect_equal(summary$processor_s[there], c(0.05, 0.2))
  expect_equal(summary$processor_share[there], c(0.05, 0.2))
  expect_true(all(is.na(summary$processor_s[!there])))
})

test_that("a heatmap and bars mark what costs much, other figures name it", {
  study <- with_bars()
  runs <- virtual_runs(study)
  file <- processor_file(study)
  for (kind in c("heatmap", "bars")) {
    svg <- tempfile(fileext = ".pdf")
    drawn <- drawn_figure(study, kind, runs, file)
    save_figure(drawn, svg)
    text <- readLines(sub("[.]pdf$", ".svg", svg))
    # One in the caption; the heatmap's pair of one and three has none.
    expect_gt(sum(grepl(COSTLY, text, fixed = TRUE)), 8L)
    expect_match(caption_of(drawn), "\u2020: above 10 % of the load.", fixed = TRUE)
  }
  caption <- caption_of(drawn_figure(study, "cdf", runs, file))
  expect_match(caption, "Server and client used 50 to 200 ms of a processor (A processor)", fixed = TRUE)
  expect_match(caption, "not known for 2 of 6", fixed = TRUE)
  expect_match(caption, "Above 10 % of the load: Two (2 of 2 cells).", fixed = TRUE)
})

test_that("nothing is marked in real time or where nothing was measured, which is said", {
  study <- with_bars()
  real <- drawn_figure(study, "bars", simulate_runs(study, 3L), processor_file(study))
  expect_no_match(caption_of(real), "processor|\u2020")
  unknown <- drawn_figure(study, "bars", virtual_runs(study))
  expect_match(caption_of(unknown), "What the programs cost the processor was not measured.", fixed = TRUE)
  expect_no_match(caption_of(unknown), COSTLY, fixed = TRUE)
})

test_that("the appendix has a column of it, with a mark, for loads in virtual time alone", {
  study <- as_study()
  fragments <- function(runs, processor) {
    folder <- tempfile()
    write_statistics(as_runs(runs, study), study, folder, processor)
    write_appendix(study, list(statistics = folder, figures = tempfile(), output = tempfile()))
  }
  virtual <- fragments(virtual_runs(study), read_processor(processor_file(study), study))
  cells <- paste(virtual$cells, collapse = "\n")
  expect_match(cells, "\\textbf{Processor}", fixed = TRUE)
  expect_match(cells, "& 200\\,ms\\,\\dag \\\\", fixed = TRUE)
  expect_match(cells, "& 50\\,ms \\\\", fixed = TRUE)
  expect_match(paste(virtual$macros, collapse = "\n"), "Server and client used 50 to 200 ms", fixed = TRUE)
  real <- fragments(simulate_runs(study, 3L), no_processor())
  expect_no_match(paste(real$cells, collapse = "\n"), "Processor")
})

test_that("a table without a column is refused by its name", {
  study <- as_study()
  path <- write_runs(data.table::data.table(study = "made-up", cell = "x", arm = "one"))
  expect_error(read_processor(path, study), "has no column 'cpu_server_s'")
})
