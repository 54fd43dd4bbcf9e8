#' Checks of a study whose first cell and arm have these loads in this order.
checks_of <- function(values, sessions = "s1") {
  study <- as_study()
  runs <- simulate_runs(study, length(values))
  here <- which(runs$cell == study$design$cell[1] & runs$arm == "one")
  runs$plt_s[here] <- values
  runs$session[here] <- rep_len(sessions, length(here))
  runs$started <- 1.7e9 + runs$repetition
  check_runs(as_runs(runs, study), study)
}

test_that("two modes are found, one is not", {
  spread <- with_seed(1, exp(0.02 * stats::rnorm(40)))
  two <- checks_of(rep(c(1, 2), 20) * spread)
  expect_true(two$several_modes[1])
  expect_equal(sum(two$several_modes), 1)
  expect_false(any(checks_of(spread)$several_modes))
})

test_that("drift is found, with its size, and noise is none", {
  noise <- with_seed(2, exp(0.01 * stats::rnorm(30)))
  drifting <- checks_of(seq(1, 1.2, length.out = 30) * noise)
  expect_true(drifting$drifts[1])
  expect_equal(drifting$drift_percent[1], 100 * 0.2 / 1.1, tolerance = 0.1)
  expect_equal(sum(drifting$drifts), 1)
  expect_false(checks_of(noise)$drifts[1])
  expect_equal(drift_test(c(1, 2, 3, 4, 5))[c(1, 3)], c(1, 2 / factorial(5)))
})

test_that("a session that differs is found", {
  noise <- with_seed(3, exp(0.01 * stats::rnorm(24)))
  table <- checks_of(noise * rep(c(1, 1.1), each = 12), rep(c("s1", "s2"), each = 12))
  expect_equal(table$sessions[1], 2)
  expect_true(table$sessions_differ[1])
  expect_true(all(is.na(table$p_session[-1])))
})

test_that("few, equal and failed loads are no shape and no error", {
  few <- checks_of(c(1, 2, 3))
  expect_true(all(is.na(few$p_modes) & is.na(few$p_drift)))
  expect_false(any(few$several_modes | few$drifts | few$sessions_differ))
  equal <- checks_of(rep(1, 6))
  expect_equal(c(equal$p_modes[1], equal$p_drift[1]), c(1, 1))
  study <- as_study()
  runs <- simulate_runs(study, 5L)
  expect_equal(nrow(check_runs(as_runs(spoil(runs, seq_len(nrow(runs))), study), study)), 0)
})
