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
  expect_equal(table$p_adjusted, by_hand)
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
  expect_equal(sum(!is.na(table$p_adjusted)), 14)
  expect_equal(here$rule[1], NOT_MEASURED)
})

test_that("a pair without a common repetition is not measured, and a failed one is", {
  table <- data.table::data.table(
    cell = c("x", "y"), a = "one", b = "two", n_a = 1L, n_b = 1L, median_a = c(NA, Inf), median_b = c(NA, 0.2)
  )
  nothing <- data.table::data.table(cell = character(), arm = character())
  expect_equal(pair_state(table, nothing), c("not measured", "measured"))
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
  expect_lt(overall$p_adjusted[1], 0.01)
  expect_equal(overall$ratio[1], 0.7, tolerance = 0.03)
  expect_equal(overall$a_wins[1] + overall$b_wins[1] + overall$ties[1], 8)
})

test_that("the correction is the study's, over all rows", {
  plan <- test_plan()
  plan$comparison$adjust <- "bh"
  study <- as_study(plan)
  table <- compare_pairs(outcome_index(as_runs(simulate_runs(study, 6L), study)), study, intervals = FALSE)
  expect_equal(table$p_adjusted, stats::p.adjust(table$p, "BH"))
  expect_equal(unique(table$adjustment), "bh")
  plan$comparison$adjust <- "bonferroni"
  expect_error(as_study(plan), "comparison.adjust: is 'bonferroni'")
})

test_that("medians within exactly 5 % are alike, beyond it the better one is ahead", {
  expect_equal(median_rule(1.05, 1, "a", "b"), ALIKE)
  expect_equal(median_rule(0.95, 1, "a", "b"), ALIKE)
  expect_equal(median_rule(1.0501, 1, "a", "b"), "b")
  expect_equal(median_rule(0.9499, 1, "a", "b"), "a")
  expect_equal(median_rule(Inf, 1, "a", "b"), "b")
  expect_equal(median_rule(1, Inf, "a", "b"), "a")
  expect_equal(median_rule(Inf, Inf, "a", "b"), ALIKE)
  expect_equal(median_rule(NA, 1, "a", "b"), NOT_MEASURED)
})

test_that("Cliff's delta by hand, with failures, and its interval", {
  expect_equal(cliffs_delta(loads(1, 2, 4), loads(3, 3, 3)), (3 - 6) / 9)
  expect_equal(cliffs_delta(loads(1), loads(Inf)), -1)
  expect_equal(cliffs_delta(loads(Inf), loads(Inf)), 0)
  expect_identical(cliffs_delta(loads(), loads(1)), NA_real_)
  samples <- matched(loads(1, 2, 4, 5), loads(3, 3, 3, 3), "independent")
  replicates <- replicate_delta(samples, 4000L, 1L)
  expect_equal(mean(replicates), cliffs_delta(samples$a, samples$b), tolerance = 0.05)
  expect_equal(range(replicates), c(-1, 1))
})

test_that("a rate is better when it is higher, and a failed transfer has the lowest", {
  plan <- test_plan()
  plan$comparison$metric <- list(column = "goodput_mbit", label = "Goodput", short = "goodput", unit = "Mbit/s", better = "higher")
  study <- as_study(plan)
  runs <- simulate_runs(study, 8L)
  runs$goodput_mbit <- ifelse(runs$arm == "one", 112, 100) * runs$plt_s^0.01
  failed <- runs$arm == "two" & runs$cell == "2mbit-loss0-small"
  runs <- spoil(runs, which(failed & runs$repetition < 5))
  runs <- as_runs(runs, study)
  index <- outcome_index(runs)
  table <- pick(compare_pairs(index, study), rep(c(TRUE, FALSE), each = 8))
  expect_equal(unique(table$rule), "one")
  expect_equal(unique(table$median_rule), "one")
  here <- pick(table, table$cell == "2mbit-loss0-small")
  expect_equal(c(here$median_b, here$unfinished_b), c(0, 5))
  expect_true(all(heatmap_tiles(table, better = "higher")$shade[-1] < 0))
  expect_equal(heatmap_tiles(table, better = "higher")$kind[1], "failed")
  summary <- pick(summarise_runs(runs, study), 2)
  expect_equal(c(summary$median, summary$finished, summary$n), c(0, 3, 8))
  expect_equal(summary$mean, 300 / 8, tolerance = 0.01)
})

test_that("10 % higher is decided at its very value", {
  study <- as_study(utils::modifyList(test_plan(), list(comparison = list(metric = list(better = "higher")))))
  rule <- study$comparison$rule
  share <- function(a, b) beat_share(as_costs(a, study$comparison$metric), as_costs(b, study$comparison$metric), rule$cost_margin)
  expect_equal(share(loads(110), loads(100)), 1)
  expect_equal(share(loads(109.9), loads(100)), 0)
  expect_equal(share(loads(100), loads(0)), 1)
  expect_equal(share(loads(0), loads(0)), 0)
})
