test_that("for log-normal loads the number is the one of the textbook", {
  # The median of N loads has the relative error sqrt(pi / 2) * spread / sqrt(N).
  spread <- 0.2
  pilot <- stats::qlnorm(seq_len(4001) / 4002, 0, spread)
  book <- (stats::qnorm(0.975) * sqrt(pi / 2) * spread / 0.05)^2
  expect_equal(repetitions_needed(pilot, 0.05, 0.95), book, tolerance = 0.05)
  expect_equal(repetitions_needed(pilot, 0.025, 0.95), 4 * book, tolerance = 0.05)
})

test_that("so many repetitions give what they promise", {
  pilot <- with_seed(3, exp(0.15 * stats::rnorm(60)))
  needed <- repetitions_needed(pilot, 0.05, 0.95)
  medians <- with_seed(4, replicate(2000, stats::median(sample(pilot, needed, TRUE))))
  inside <- mean(abs(medians / stats::median(pilot) - 1) <= 0.05)
  expect_gt(inside, 0.93)
})

test_that("the boundaries: small pilots, no spread, failures, hopeless spread", {
  needed <- function(...) repetitions_needed(loads(...), 0.05, 0.95)
  expect_identical(needed(1, 2), NA_real_)
  expect_equal(needed(2, 2, 2), 6)
  expect_equal(repetitions_needed(loads(2, 2, 2), 0.05, 0.99), 8)
  expect_identical(needed(1, Inf, Inf), NA_real_)
  expect_equal(needed(1, 1, 10, 10), Inf)
  # One of nine failed: enough repetitions keep the interval below it.
  expect_true(is.finite(needed(1, 1.01, 1.02, 1.03, 1.04, 1.05, 1.06, 1.07, Inf)))
  expect_gt(needed(1, 1.2, 1.1, 1.3, 1.15), needed(1, 1.02, 1.01, 1.03, 1.015))
})

test_that("exactly the asked half width is enough", {
  values <- with_seed(1, exp(0.1 * stats::rnorm(30)))
  width <- median_half_width(values, 25, 0.95)
  expect_equal(repetitions_needed(values, width, 0.95), 25)
  expect_equal(repetitions_needed(values, width * 0.999, 0.95), 26)
})

test_that("the cell asks for what its widest arm needs, within the bound", {
  plan <- test_plan(precision = list(relative = 0.05, at_most = 40))
  plan$cells[[2]]$not_applicable <- list(list(arm = "three", why = "too slow"))
  study <- as_study(plan)
  runs <- simulate_runs(study, 8L)
  wide <- runs$arm == "three"
  runs$plt_s[wide] <- runs$plt_s[wide]^8
  cells <- study$design$cell
  runs <- pick(runs, !(wide & runs$cell == cells[2]) & runs$cell != cells[4])
  runs <- spoil(runs, which(runs$cell == cells[3]))
  table <- plan_precision(outcome_index(as_runs(runs, study)), study)
  expect_equal(table$cell, cells)
  expect_equal(table$arm[1], "three")
  expect_equal(table$repetitions[1], 40L)
  expect_lt(table$repetitions[2], 40L)
  # No load finished: there is no median to be precise about. Nothing measured: a pilot first.
  expect_equal(table$more[3], 0L)
  expect_equal(c(table$measured[4], table$repetitions[4]), c(0L, SMALLEST_PILOT))
  expect_match(precision_lines(table, study, asked_precision(study))[1], "8 measured, 40 to have, 32 more \\(three needs .*above the bound")
})

test_that("the program writes what the workflow reads", {
  study <- as_study()
  runs <- write_runs(simulate_runs(study, 6L))
  output <- tempfile(fileext = ".json")
  done <- run_r("run_precision.R", c("--study", write_plan(test_plan()), "--runs", runs, "--at-most", "30", "--output", output))
  expect_equal(done$status, 0L, info = done$stderr)
  found <- jsonlite::fromJSON(output)
  expect_equal(names(found), study$design$cell)
  expect_true(all(unlist(found) >= 6 & unlist(found) <= 30))
  done <- run_r("run_precision.R", c("--study", write_plan(test_plan()), "--runs", runs, "--relative", "x"))
  expect_match(done$stderr, "--relative is 'x'.*Give a number above 0, at most 1")
})
