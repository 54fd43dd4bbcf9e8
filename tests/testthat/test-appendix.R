# What the appendix says of a study.

#' Fragments of a study by name, each as one text.
fragments_of <- function(study, runs, figures = character(), started = TRUE) {
  folder <- tempfile()
  for (name in c("figures", "out")) dir.create(file.path(folder, name), recursive = TRUE)
  file.create(file.path(folder, "figures", sprintf("%s.pdf", figures)))
  write_statistics(as_runs(runs, study), study, file.path(folder, "statistics"))
  paths <- list(statistics = file.path(folder, "statistics"), figures = file.path(folder, "figures"), output = file.path(folder, "out"))
  suppressMessages(lapply(write_appendix(study, paths), paste, collapse = "\n"))
}

test_that("the text speaks of a tree where one is drawn, and only there", {
  study <- as_study()
  trees <- vapply(Filter(function(figure) figure$kind == "tree", study$figures), `[[`, "", "name")
  runs <- simulate_runs(study, 3L)
  shown <- fragments_of(study, runs, trees)$macros
  expect_true(all(vapply(c("The tree gives the winners", "rpart"), grepl, TRUE, shown)))
  expect_no_match(fragments_of(study, runs)$macros, "tree")
  study$figures <- Filter(function(figure) figure$kind != "tree", study$figures)
  expect_no_match(fragments_of(study, runs, trees)$macros, "tree")
})

test_that("a study with a second text cites both, and figures say where they stand in each", {
  study <- as_study()
  expect_no_match(paper_text(study$paper), "other text")
  study$paper$also <- list(authors = "A. Nother", title = "The same in other words", venue = "At home")
  expect_match(paper_text(study$paper), "Its other text: A. Nother: The same in other words. At home.", fixed = TRUE)
  expect_identical(paper_reference(list(paper = "Figure 5", also = "Figure 7")), " (Figure 5 of the paper; Figure 7 of its other text.)")
  expect_identical(paper_reference(list(also = "Figure 7")), " (Figure 7 of its other text.)")
  expect_identical(paper_reference(list()), "")
})

test_that("a study without a paper reproduces nothing", {
  study <- as_study()
  runs <- simulate_runs(study, 3L)
  with_paper <- fragments_of(study, runs)
  expect_match(with_paper$macros, "A reproduction, by measurement", fixed = TRUE)
  expect_match(with_paper$macros, "The paper: ", fixed = TRUE)
  expect_match(with_paper$differences, "Differences from the paper", fixed = TRUE)
  study$paper <- NULL
  without <- paste(fragments_of(study, runs), collapse = "\n")
  expect_match(without, "{A measurement on emulated links}", fixed = TRUE)
  expect_no_match(gsub("\\StudyPaper", "", without, fixed = TRUE), "[Pp]aper|reproduc")
  claim <- data.table::data.table(claim = "c", text = "A claim", where = NA, claim_verdict = SUPPORTED, counts = TRUE)
  expect_no_match(paste(claims_table(study, claim), collapse = "\n"), "paper")
})

test_that("the answer says on how many numbers a claim stands", {
  study <- as_study()
  rows <- data.table::data.table(
    claim = c("a", "a", "a", "b"), text = "A claim", where = c(rep("Figure 1", 3), NA), claim_verdict = SUPPORTED,
    counts = c(TRUE, TRUE, FALSE, TRUE)
  )
  table <- paste(claims_table(study, rows), collapse = "\n")
  expect_match(table, "(Figure 1; all of 2 numbers)", fixed = TRUE)
  expect_match(table, "(one number)", fixed = TRUE)
})

test_that("loads of which the guard only recorded delays are counted on the first page", {
  study <- as_study()
  runs <- simulate_runs(study, 3L)
  expect_no_match(fragments_of(study, runs)$macros, "HOWQUICK")
  runs$delays_judged <- "true"
  expect_no_match(fragments_of(study, runs)$macros, "HOWQUICK")
  runs$delays_judged[1:2] <- "false"
  expect_match(fragments_of(study, runs)$macros, sprintf("Of 2 of %d loads the guard only recorded", nrow(runs)), fixed = TRUE)
  runs$delays_judged <- "false"
  expect_match(fragments_of(study, runs)$macros, "Of all loads the guard only recorded", fixed = TRUE)
})

test_that("the text says how many repetitions cells have that have others", {
  plan <- test_plan(slow_cells = list(above_s = 60, repetitions = 1))
  expect_identical(slow_text(as_study(plan)), " (1 where one of them is expected to take more than 60 s)")
  plan$virtual <- list(repetitions = 10)
  expect_identical(slow_text(as_study(plan)), slow_text(as_study(test_plan(slow_cells = plan$slow_cells))))
  plan$cells <- lapply(plan$cells, function(cell) c(cell, list(clock = "virtual")))
  expect_match(slow_text(as_study(plan)), "60 s, 10 in virtual time, 3 at most without loss in virtual time)", fixed = TRUE)
  plan$virtual$exact_repetitions <- 6
  expect_match(slow_text(as_study(plan)), "6 at most without loss in virtual time)", fixed = TRUE)
  expect_identical(slow_text(as_study(test_plan())), "")
})

test_that("the numbers of a claim stand in one line each, below what they are, with the levels in columns", {
  plan <- test_plan()
  plan$claims <- list(list(id = "c", text = "One is no slower.", test = list(
    list(quantity = "ratio", arm = list("one", "two"), against = "three", at_most = 1.5, cells = list(object_size = "small")),
    list(quantity = "ratio", arm = "one", against_cells = list(loss_percent = 0), at_most = 3, cells = list("2mbit-loss2-small")),
    list(quantity = "cells_won_percent", arm = "one", against = list("two", "three"), at_most = 100)
  )))
  study <- as_study(plan)
  claims <- evaluate_claims(as_runs(simulate_runs(study, 4L), study), study)
  table <- unlist(strsplit(numbers_table(study, claims), "\n", fixed = TRUE))
  headings <- grep("^.multicolumn", table, value = TRUE)
  rows <- grep("^.quad", table, value = TRUE)
  expect_length(headings, 4L)
  expect_length(rows, 4L + 4L + 1L + 1L)
  expect_identical(sum(grepl("quad  & 2 Mbit/s & 2 \\% & small & ", rows, fixed = TRUE)), 2L)
  expect_match(rows[9], "multicolumn{3}{l}{2 Mbit/s, loss 2 \\%, object size small against loss 0 \\%}", fixed = TRUE)
  expect_match(rows[10], "multicolumn{3}{l}{8 cells}", fixed = TRUE)
})

test_that("appendix and figures say which loads are in virtual time, and give those no date", {
  study <- as_study()
  runs <- simulate_runs(study, 3L)
  expect_no_match(fragments_of(study, runs)$macros, "virtual time")
  runs$started <- 1798761660
  runs$clock <- "virtual"
  all <- fragments_of(study, runs)$macros
  expect_match(all, "StudyClock}{In virtual time: of the processor", fixed = TRUE)
  expect_match(all, "date not recorded", fixed = TRUE)
  runs$clock[-(1:2)] <- "real"
  expect_match(fragments_of(study, runs)$macros, sprintf("2 of %d loads are in virtual time", nrow(runs)), fixed = TRUE)
})

test_that("a figure of loads in virtual time says so below, and one of real time has no word of it", {
  study <- as_study()
  heatmap <- Filter(function(figure) figure$kind == "heatmap", study$figures)[[1]]
  drawn <- function(clock) {
    runs <- simulate_runs(study, 3L)
    runs$clock <- clock
    runs <- as_runs(runs, study)
    data <- list(
      runs = function() runs, index = function() outcome_index(runs), processor = no_processor,
      statistics = function(name, make) make()
    )
    draw_figure(heatmap, study, data)
  }
  caption <- function(clock) paste(drawn(clock)$plot$labels$caption, collapse = " ")
  expect_match(caption("virtual"), "In virtual time", fixed = TRUE)
  expect_no_match(caption("real"), "virtual")
  expect_gt(drawn("virtual")$height, drawn("real")$height)
})
