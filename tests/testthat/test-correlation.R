# Runs in which the arm one takes the longer the smaller x is, the arm two shows no such thing.
related <- function(study, repetitions = 20L) {
  runs <- simulate_runs(study, repetitions)
  runs$x <- with_seed(3L, stats::runif(nrow(runs)))
  runs$plt_s <- ifelse(runs$arm == "one", 2 - runs$x, runs$plt_s)
  runs$x[runs$repetition == 0L] <- NA
  runs
}
cell <- "2mbit-loss0-small"

test_that("the rank correlation is Spearman's, and undefined for too few or constant values", {
  x <- c(3, 1, 2, 2, 9)
  y <- c(1, 5, 2, 2, 0)
  expect_equal(rank_correlation(x, y), stats::cor(x, y, method = "spearman"))
  expect_true(is.na(rank_correlation(1:2, 1:2)))
  expect_true(is.na(rank_correlation(c(1, 1, 1), 1:3)))
})

test_that("a claim about a correlation is judged by its interval; loads without the column are counted", {
  plan <- test_plan()
  condition <- function(...) list(list(quantity = "correlation", cells = list(cell), with = "x", ...))
  plan$claims <- list(
    list(id = "strong", text = "t", where = "w", test = condition(arm = "one", at_most = -0.5)),
    list(id = "none", text = "t", where = "w", test = condition(arm = "two", at_most = -0.9)),
    list(id = "empty", text = "t", where = "w", test = list(list(
      quantity = "correlation", cells = list(cell), with = "nothing", arm = "one", at_most = 0
    )))
  )
  study <- as_study(plan)
  table <- evaluate_claims(as_runs(related(study), study), study)
  expect_equal(table$claim_verdict, c(SUPPORTED, NOT_SUPPORTED, UNDECIDED))
  expect_equal(table$value[1], -1)
  expect_true(table$low[2] <= table$value[2] && table$value[2] <= table$high[2])
  expect_equal(table$n, c(19L, 19L, 0L))
  expect_match(table$note[1], "1 loads have no x")
  plan$claims[[1]]$test[[1]]$with <- NULL
  unnamed <- as_study(plan)
  expect_error(evaluate_claims(as_runs(related(unnamed), unnamed), unnamed), "has no 'with'")
})

test_that("a claim may be about another metric", {
  plan <- test_plan()
  metric <- list(column = "cpu_s", label = "Processor time", short = "CPU", unit = "s")
  test <- list(quantity = "ratio", cells = list(cell), arm = "two", against = "one", metric = metric, between = list(2.9, 3.1))
  plan$claims <- list(list(id = "cpu", text = "t", where = "w", test = list(test)))
  study <- as_study(plan)
  runs <- simulate_runs(study, 6L)
  runs$cpu_s <- ifelse(runs$arm == "two", 3, 1)
  table <- evaluate_claims(as_runs(runs, study), study)
  expect_equal(table$value, 3)
  expect_match(table$what, "CPU")
})

test_that("the scatter names the correlation of every arm, and what has no value", {
  study <- server_study(kind = "scatter", x = "x", cells = list(CELL), arms = list("a-h3", "a-h2"))
  runs <- related(study)
  expect_silent(picture <- picture_of(study, write_runs(runs)))
  expect_match(picture, "\u03c1 = \u2212?[01]\\.[0-9]{2} \\[")
  expect_match(picture, "Without any: 2 loads")
  runs$x <- NA_real_
  expect_match(picture_of(study, write_runs(runs)), "No load has a value")
  expect_error(picture_of(server_study(kind = "scatter"), write_runs(runs)), "has no 'x'")
})

test_that("axes carry the column's unit", {
  expect_equal(column_axis("cpu_server_s")$title, "Cpu server (s)")
  expect_equal(column_axis("retransmitted_bytes"), list(title = "Retransmitted (kB)", divisor = 1000))
  expect_equal(column_axis("first_retransmitted_offset")$divisor, 1000)
  expect_equal(column_axis("packets")$title, "Packets")
})
