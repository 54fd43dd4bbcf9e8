test_that("the median counts loads that did not finish as the longest", {
  expect_equal(censored_median(c(3, 1, 2)), 2)
  expect_equal(censored_median(c(1, 2, 3, 4)), 2.5)
  expect_equal(censored_median(c(1, 2, Inf)), 2)
  expect_equal(censored_median(c(1, Inf)), Inf)
  expect_equal(censored_median(c(1, Inf, Inf)), Inf)
  expect_identical(censored_median(numeric()), NA_real_)
})

test_that("medians of rows are medians", {
  values <- matrix(c(5, 1, 2, 4, 9, 7, Inf, 1), 2)
  expect_equal(row_medians(values), apply(values, 1, censored_median))
})

test_that("the interval of the median inverts the sign test, whatever the distribution", {
  for (n in c(6, 7, 12, 51, 200)) {
    found <- median_interval(as.numeric(seq_len(n)), 0.95)
    expect_equal(found[1], (n + 1) / 2)
    # Holds the median unless fewer than `low` of n loads lie on one side of it.
    holds <- function(low) 1 - 2 * stats::pbinom(low - 1, n, 0.5)
    expect_gte(holds(found[2]), 0.95)
    expect_lt(holds(found[2] + 1), 0.95)
    expect_equal(found[3], n + 1 - found[2])
  }
})

test_that("small and constant samples have sane intervals", {
  expect_equal(median_interval(1, 0.95), c(1, NA, NA))
  expect_equal(median_interval(rep(2, 6), 0.95), c(2, 2, 2))
  expect_equal(median_interval(c(1, 3), 0.95), c(2, NA, NA))
  expect_equal(median_interval(numeric(), 0.95), c(NA_real_, NA, NA))
  expect_equal(median_interval(c(1, 1, 1, Inf, Inf, Inf), 0.95)[3], Inf)
})

test_that("few loads have Student's interval, or none where they show no spread", {
  few <- c(1, 1.1, 1.3)
  expected <- exp(as.numeric(stats::t.test(log(few))$conf.int))
  expect_equal(median_interval(few, 0.95), c(1.1, expected))
  # No narrower than the values themselves, which hold the median of five in fifteen of sixteen cases.
  expect_gte(median_interval(c(1, 1, 1, 1, 1.001), 0.95)[3], 1.001)
  expect_equal(median_interval(c(2, 2, 2), 0.95), c(2, NA, NA))
  expect_equal(median_interval(c(1, 1, Inf), 0.95), c(1, NA, NA))
  expect_equal(loads_needed(c(0.5, 0.95, 0.998)), c(2L, 6L, 10L))
  # Welch's and Satterthwaite's degrees of freedom, as R has them.
  other <- c(1.5, 1.6, 1.62, 2)
  expect_equal(student_interval(list(few, other), c(1, -1), 0.9), as.numeric(stats::t.test(few, other, conf.level = 0.9)$conf.int))
})

test_that("loads without dice that agree leave nothing to chance", {
  study <- as_study(certain_plan())
  point <- function(runs) {
    summary <- summarise_runs(as_runs(runs, study), study)
    stats::setNames(summary$low == summary$min & summary$high == summary$max, paste(summary$cell, summary$arm))
  }
  runs <- simulate_runs(study, 3L, spread = 0.0001)
  # By the real clock the same loads are as uncertain as any others of which there are three.
  expect_false(any(point(runs)))
  runs$clock <- "virtual"
  expect_identical(unname(point(runs)), grepl("loss0", names(point(runs)), fixed = TRUE))
  # A program that chooses by its own dice, and two loads, are what any loads are.
  here <- which(runs$cell == study$design$cell[1] & runs$arm == "one")
  runs$plt_s[here[2]] <- 1.03
  expect_false(point(runs)[[1]])
  expect_true(all(is.na(point(runs[runs$repetition < 2, ]))))
})

test_that("the seed fixes the interval and leaves the caller's generator alone", {
  values <- c(1, 5, 2, 8, 3)
  set.seed(1)
  before <- stats::runif(1)
  set.seed(1)
  first <- replicate_statistic(values, "median", 200L, 11L)
  expect_equal(stats::runif(1), before)
  expect_identical(first, replicate_statistic(values, "median", 200L, 11L))
  expect_false(derive_seed(1, "a", "b") == derive_seed(1, "b", "a"))
})

test_that("a cell's interval does not depend on the other cells of the table", {
  study <- as_study()
  runs <- as_runs(simulate_runs(study), study)
  cell <- study$design$cell[3]
  all <- pick(summarise_runs(runs, study), summarise_runs(runs, study)$cell == cell)
  alone <- summarise_runs(pick(runs, runs$cell == cell), study)
  expect_equal(as.data.frame(all), as.data.frame(alone))
})

test_that("the summary counts every kind of end", {
  study <- as_study()
  runs <- simulate_runs(study, 10L)
  here <- which(runs$cell == study$design$cell[1] & runs$arm == "one")
  runs <- spoil(runs, here[1:2], "failed")
  runs <- spoil(runs, here[3], "timeout")
  runs <- spoil(runs, here[4], "invalid")
  row <- summarise_runs(as_runs(runs, study), study)[1, ]
  expect_equal(c(row$n, row$finished, row$failed, row$timeout, row$invalid), c(9, 6, 2, 1, 1))
  expect_true(is.finite(row$median))
  expect_equal(row$high, Inf)
})

test_that("of an arm that was disturbed in more than a third of its loads nothing is used", {
  study <- as_study()
  runs <- simulate_runs(study, 9L)
  here <- which(runs$cell == study$design$cell[1] & runs$arm == "one")
  counts <- function(invalid) {
    disturbed <- as_runs(spoil(runs, here[seq_len(invalid)], "invalid"), study)
    row <- summarise_runs(disturbed, study)[1, ]
    list(numbers = c(row$n, row$invalid, row$left_out), text = absent_text(disturbed, study, study$design$cell[1], "one"))
  }
  expect_equal(counts(3L), list(numbers = c(6, 3, 0), text = ""))
  expect_equal(counts(4L)$numbers, c(0, 4, 5))
  expect_match(counts(4L)$text, "^Disturbed too often: ")
})

test_that("what an interval can promise follows from n", {
  expect_equal(attainable_confidence(c(1, 2, 6)), c(0, 0.5, 1 - 2^-5))
})
