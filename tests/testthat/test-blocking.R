#' The same study measured on two machines, the second of which is three times as slow.
two_machines <- function(study, repetitions = 6L) {
  one <- simulate_runs(study, repetitions, function(cell, arm) if (arm == "one") 0.8 else 1)
  two <- data.table::copy(one)
  two$plt_s <- two$plt_s * 3
  one$machine <- "fast"
  two$machine <- "slow"
  read_runs(c(write_runs(one), write_runs(two)), study)
}

test_that("tables of two machines merge, and pairs stay within a machine", {
  study <- as_study()
  runs <- two_machines(study)
  expect_equal(nrow(runs), 2 * 6 * 3 * 8)
  expect_setequal(substr(runs$pair, 1, 5), c("fast/", "slow/"))
  table <- compare_pairs(outcome_index(runs), study)
  here <- pick(table, table$a == "one")
  expect_equal(unique(here$n_pairs), 12)
  expect_lt(max(here$high), 1)
  expect_true(all(here$p_sessions > 0.05))
})

test_that("a load given twice is refused, also in merged tables", {
  study <- as_study()
  runs <- simulate_runs(study, 2L)
  runs$machine <- "one"
  expect_error(read_runs(c(write_runs(runs), write_runs(runs)), study), "twice")
})

test_that("two sessions with the same repetitions are pairs within the session", {
  study <- as_study()
  first <- simulate_runs(study, 3L)
  second <- data.table::copy(first)
  second$session <- "s2"
  runs <- read_runs(c(write_runs(first), write_runs(second)), study)
  expect_setequal(runs$pair, c(paste0("s1/", 0:2), paste0("s2/", 0:2)))
  # One arm measured later: the repetition alone still says what belongs together.
  late <- data.table::copy(first)
  late$session[late$arm == "two"] <- "s2"
  expect_setequal(as_runs(late, study)$pair, as.character(0:2))
})

test_that("resampling stays within sessions that are large enough", {
  expect_equal(resampling_strata(rep(c("x", "y"), each = 5)), rep(1:2, each = 5))
  expect_equal(resampling_strata(c(rep("x", 9), "y")), rep(1L, 10))
  expect_equal(resampling_strata(character()), integer())
  values <- c(1:5, 101:105)
  draws <- draw_rows(10L, 200L, 1L, resampling_strata(rep(c("x", "y"), each = 5)))
  expect_true(all(rowSums(drawn_values(values, draws) > 100) == 5))
  expect_identical(draw_rows(5L, 10L, 1L), draw_rows(5L, 10L, 1L, rep(1L, 5)))
})

test_that("an interval does not depend on how far sessions lie apart, if each is calm", {
  values <- loads(c(1 + 0:9 / 100, 2 + 0:9 / 100))
  of <- function(values, sessions) percentile_interval(replicate_statistic(values, "median", 500L, 1L, sessions), 0.95)
  sessions <- rep(c("x", "y"), each = 10)
  expect_lt(diff(of(values, sessions)), diff(of(values, rep("x", 20))))
  # Failures of one session would be there in every resample: half of them, and the interval is a point.
  failed <- loads(rep(Inf, 10), 2 + 0:9 / 100)
  expect_lt(of(failed, sessions)[1], Inf)
})

test_that("a mean's interval does not keep to sessions where a load ran into its timeout", {
  plan <- test_plan()
  study <- as_study(plan)
  runs <- simulate_runs(study, 12L)
  runs$session <- rep(c("s1", "s2"), each = 6)[runs$repetition + 1L]
  here <- runs$cell == study$design$cell[1] & runs$arm == "one"
  runs <- as_runs(spoil(runs, which(here & runs$session == "s2")), study)
  data <- claim_data(runs, study)
  sessions <- function(arm) unique(strata_at(data$mean, study$design$cell[1], arm, "session"))
  expect_identical(sessions("one"), "")
  expect_setequal(sessions("two"), c("s1", "s2"))
  of <- function(design) {
    samples <- lapply(c("one", "two"), sample_at, index = data$mean, cell = study$design$cell[1])
    ratio_interval(matched_samples(samples[[1]], samples[[2]], design), "mean", study$comparison, 1L)
  }
  # Half of the loads take 60 s and half 1 s: within sessions every resample would have six of each.
  for (design in c("paired", "independent")) expect_gt(diff(of(design)), 10)
})

test_that("a ratio that differs between sessions is found", {
  values <- c(1, 1.1, 1.05, 1.07, 1.2, 1.21, 2, 2.1, 2.05, 2.07, 2.2, 2.21)
  sessions <- rep(c("s1", "s2"), each = 6)
  noise <- with_seed(1, exp(0.01 * stats::rnorm(12)))
  same <- matched_samples(as_sample(loads(values * noise), sessions), as_sample(loads(values), sessions), "paired")
  expect_gt(session_test(same), 0.05)
  other <- values * noise * rep(c(1, 1.5), each = 6)
  moved <- matched_samples(as_sample(loads(other), sessions), as_sample(loads(values), sessions), "paired")
  expect_lt(session_test(moved), 0.01)
  expect_identical(session_test(matched(loads(1, 2), loads(2, 3), "paired")), NA_real_)
})

test_that("a mean of loads that did not all finish is a bound, or not known", {
  study <- as_study()
  runs <- simulate_runs(study, 4L)
  here <- runs$cell == study$design$cell[1] & runs$arm == "one"
  runs <- spoil(runs, which(here & runs$repetition == 0))
  row <- summarise_runs(as_runs(runs, study), study)[1, ]
  expect_true(row$mean_is_bound)
  expect_equal(row$mean, (60 + 3) / 4, tolerance = 0.05)
  plan <- test_plan()
  plan$timeout_s <- NULL
  row <- summarise_runs(as_runs(runs, as_study(plan)), as_study(plan))[1, ]
  expect_identical(row$mean, NA_real_)
})
