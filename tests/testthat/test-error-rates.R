test_that("shuffled labels keep every repetition's loads", {
  family <- with_seed(1, null_family(2L, 3L, 6L))
  shuffled <- with_seed(2, shuffle_labels(family))
  expect_equal(lapply(shuffled, function(loads) apply(loads, 1, sort)), lapply(family, function(loads) apply(loads, 1, sort)))
  expect_false(identical(shuffled, family))
})

test_that("where nothing differs the tests err as often as they may", {
  rates <- error_rates(function() null_family(4L, 3L, 12L), 120L, "simulated", "paired", 1L)
  of <- function(quantity) pick(rates, rates$quantity == quantity)
  expect_lt(of("raw")$low, 0.05)
  expect_gt(of("raw")$rate, 0.02)
  expect_lt(of("holm_any")$low, 0.05)
  expect_lte(of("holm")$rate, of("bh")$rate)
  expect_equal(of("raw")$tests, 8)
})

test_that("where something differs it is found, so that the rates above mean something", {
  family <- with_seed(1, null_family(4L, 2L, 20L))
  family <- lapply(family, function(loads) loads * rep(c(1, 1.5), each = 20))
  expect_equal(false_positives(family, "paired")[["holm"]], 1)
  expect_equal(false_positives(family, "independent")[["holm"]], 1)
})

test_that("the intervals hold what they promise", {
  table <- coverage_rates(c(2L, 3L, 5L, 6L, 20L), 60L, 1L)
  here <- pick(table, table$interval != "delta")
  # 60 simulations of a true 95 % end below 0.86 one time in a hundred. Arms of different shapes have less.
  least <- ifelse(here$distribution == "two modes against log-normal", 0.78, 0.86)
  expect_true(all(here$coverage >= least), info = paste(capture.output(here), collapse = "\n"))
  # Two loads have no interval, and five cannot give 95 % by signed ranks.
  expect_false(2 %in% table$n)
  expect_false("shift_paired" %in% table$interval[table$n == 5])
  expect_setequal(table$interval[table$n == 20], COVERED)
})

test_that("the sizes that are simulated are those that cells of a plan have", {
  block <- function(cell, repetitions) list(cell = cell, repetitions = as.list(repetitions))
  plan <- list(blocks = list(block("a", 0:2), block("a", 3:5), block("b", 0:2), block("c", 0)))
  expect_identical(repetitions_in(plan), c(1L, 3L, 6L))
})

test_that("the families of a real table are its cells with all repetitions that the arms share", {
  study <- as_study()
  runs <- simulate_runs(study, 4L)
  runs <- spoil(runs, which(runs$cell == study$design$cell[1] & runs$arm == "one" & runs$repetition == 0), "invalid")
  family <- real_family(outcome_index(as_runs(runs, study)), study)
  expect_length(family, 8)
  expect_equal(dim(family[[1]]), c(3, 3))
})

test_that("the bench writes its tables and its figure", {
  folder <- tempfile()
  study <- as_study()
  runs <- write_runs(simulate_runs(study, 6L))
  plan <- write_plan(test_plan(blocks = list(list(cell = study$design$cell[1], repetitions = as.list(0:6)))))
  done <- run_r(
    "run_statistics_bench.R", c("--families", "2", "--study", plan, "--plans", plan, "--runs", runs, "--output", folder)
  )
  expect_equal(done$status, 0L, info = done$stderr)
  rates <- data.table::fread(file.path(folder, "false_positives.csv"))
  expect_setequal(rates$source, c("simulated", "labels shuffled"))
  expect_true(7 %in% data.table::fread(file.path(folder, "coverage.csv"))$n)
  expect_true(all(file.exists(file.path(folder, c("coverage.csv", "statistics.pdf", "statistics.svg")))))
  expect_match(run_r("run_statistics_bench.R", c("--runs", runs, "--output", folder))$stderr, "Give both or none")
})
