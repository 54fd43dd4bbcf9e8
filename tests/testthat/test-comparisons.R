test_that("Hodges-Lehmann shift and Cliff's delta by hand", {
  a <- loads(1, 2, 4)
  b <- loads(3, 3, 3)
  expect_equal(hodges_lehmann(a, b, FALSE), stats::median(outer(c(1, 2, 4), c(3, 3, 3), "-")))
  expect_equal(hodges_lehmann(a, b, TRUE), stats::median(c(-2, -1, 1, -1.5, -0.5, 0)))
  expect_equal(cliffs_delta(a, b), (3 - 6) / 9)
  expect_equal(cliffs_delta(loads(1), loads(Inf)), -1)
  expect_equal(cliffs_delta(loads(Inf), loads(Inf)), 0)
  expect_identical(hodges_lehmann(loads(Inf, Inf), loads(1, 1), TRUE), NA_real_)
})

test_that("the tests agree with R's own exact ones", {
  a <- loads(1.1, 2.3, 0.7, 3.9, 2.2, 5.1)
  b <- loads(1.9, 2.1, 1.6, 5.2, 3.3, 5.9)
  expect_equal(location_test(a, b, TRUE), stats::wilcox.test(a, b, paired = TRUE, exact = TRUE)$p.value)
  expect_equal(location_test(a, b, FALSE), stats::wilcox.test(a, b, exact = TRUE)$p.value)
  expect_equal(location_test(loads(1, 1), loads(1, 1), TRUE), 1)
  expect_equal(location_test(loads(1, 1), loads(1, 1), FALSE), 1)
  expect_identical(location_test(loads(), loads(1), FALSE), NA_real_)
})

test_that("a load that did not finish has the highest rank", {
  a <- loads(1, 2, 3, 4, 5)
  expect_equal(
    location_test(a, loads(6, 7, 8, 9, Inf), FALSE), stats::wilcox.test(1:5, c(6:9, 100), exact = TRUE)$p.value
  )
  expect_equal(location_test(a, loads(1.5, 2.6, 3.7, 4.8, Inf), TRUE), 2 / 2^5)
})

test_that("Holm's correction is the one of the book", {
  study <- as_study()
  runs <- as_runs(simulate_runs(study, 10L, function(cell, arm) if (arm == "two") 1.05 else 1), study)
  table <- compare_pairs(outcome_index(runs), study, intervals = FALSE)
  p <- table$p
  m <- length(p)
  order <- order(p)
  by_hand <- numeric(m)
  by_hand[order] <- pmin(1, cummax((m - seq_len(m) + 1) * p[order]))
  expect_equal(m, 16)
  expect_equal(table$p_holm, by_hand)
  expect_equal(table$significant, by_hand <= 0.05)
})

test_that("cells without a measurement stay out of the correction and say why", {
  plan <- test_plan()
  plan$cells[[1]]$not_applicable <- list(list(arm = "two", why = "too slow"))
  study <- as_study(plan)
  runs <- simulate_runs(study, 4L)
  cells <- study$design$cell
  runs <- pick(runs, !(runs$arm == "two" & runs$cell %in% cells[1:2]))
  table <- compare_pairs(outcome_index(as_runs(runs, study)), study, intervals = FALSE)
  here <- pick(table, table$a == "one")
  expect_equal(here$state[1:3], c("not applicable", "not measured", "measured"))
  expect_equal(sum(!is.na(table$p_holm)), 14)
  expect_equal(here$rule[1], NOT_MEASURED)
})

test_that("the ratio's interval covers what was simulated, for both designs", {
  for (design in c("paired", "independent")) {
    plan <- test_plan()
    plan$comparison$design <- design
    study <- as_study(plan)
    speed <- function(cell, arm) if (arm == "one") 0.5 else 1
    table <- compare_pairs(outcome_index(as_runs(simulate_runs(study, 20L, speed), study)), study)
    here <- pick(table, table$a == "one")
    expect_equal(here$ratio, rep(0.5, 8), tolerance = 0.05)
    expect_true(all(here$low <= here$ratio & here$ratio <= here$high))
    expect_gte(mean(here$low <= 0.5 & here$high >= 0.5), 6 / 8)
    expect_equal(here$difference_percent, 100 * (here$ratio - 1))
  }
})

test_that("the pairs over all cells find a difference that single cells cannot show", {
  study <- as_study()
  runs <- as_runs(simulate_runs(study, 3L, function(cell, arm) if (arm == "one") 0.7 else 1), study)
  index <- outcome_index(runs)
  cells <- compare_pairs(index, study, intervals = FALSE)
  overall <- summarise_pairs(index, study, cells)
  expect_false(any(cells$significant))
  expect_lt(overall$p_holm[1], 0.01)
  expect_equal(overall$ratio[1], 0.7, tolerance = 0.03)
  expect_equal(overall$a_wins[1] + overall$b_wins[1] + overall$ties[1], 8)
})
