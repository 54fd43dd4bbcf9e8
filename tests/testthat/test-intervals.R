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

test_that("the interval of the median lies where the exact bootstrap distribution puts it", {
  # P(median of a resample <= k-th value) = P(Bin(n, k / n) >= (n + 1) / 2) for odd n.
  n <- 51
  exact <- function(p) which(1 - stats::pbinom((n + 1) / 2 - 1, n, seq_len(n) / n) >= p)[1]
  found <- median_interval(as.numeric(seq_len(n)), 0.95, 20000L, 1L)
  expect_equal(found[1], 26)
  expect_lte(abs(found[2] - exact(0.025)), 1)
  expect_lte(abs(found[3] - exact(0.975)), 1)
})

test_that("small and constant samples have sane intervals", {
  expect_equal(median_interval(1, 0.95, 100L, 1L), c(1, NA, NA))
  expect_equal(median_interval(c(2, 2, 2), 0.95, 100L, 1L), c(2, 2, 2))
  expect_equal(median_interval(c(1, 3), 0.95, 1000L, 1L), c(2, 1, 3))
  expect_equal(median_interval(numeric(), 0.95, 100L, 1L), c(NA_real_, NA, NA))
  expect_equal(median_interval(c(1, 1, Inf), 0.95, 1000L, 1L)[3], Inf)
})

test_that("the seed fixes the interval and leaves the caller's generator alone", {
  values <- c(1, 5, 2, 8, 3)
  set.seed(1)
  before <- stats::runif(1)
  set.seed(1)
  first <- median_interval(values, 0.9, 200L, 11L)
  expect_equal(stats::runif(1), before)
  expect_identical(first, median_interval(values, 0.9, 200L, 11L))
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
