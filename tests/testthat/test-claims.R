claim <- function(...) list(id = "c", text = "A claim", where = "Figure 1", test = list(list(...)))

#' Evaluate claims on runs in which arm one takes 1 s, two 2 s, three 3 s, and loss doubles everything.
evaluate <- function(..., repetitions = 8L, spoiled = NULL, change = identity) {
  plan <- test_plan()
  plan$claims <- list(...)
  study <- as_study(plan)
  runs <- simulate_runs(study, repetitions, function(cell, arm) {
    c(one = 1, two = 2, three = 3)[[arm]] * (1 + (cell$loss_percent == 2))
  })
  runs <- change(runs)
  evaluate_claims(as_runs(runs, study), study)
}
small <- list(bandwidth_mbit = 2, loss_percent = 0, object_size = "small")

test_that("each verdict occurs where it must", {
  ratio <- function(...) claim(quantity = "ratio", statistic = "mean", cells = small, arm = "two", against = "one", ...)
  expect_equal(evaluate(ratio(more_than = 1.5))$claim_verdict, SUPPORTED)
  expect_equal(evaluate(ratio(at_least = 3))$claim_verdict, NOT_SUPPORTED)
  expect_equal(evaluate(ratio(less_than = 2))$claim_verdict, UNDECIDED)
  expect_equal(evaluate(ratio(between = list(1.8, 2.2)))$claim_verdict, SUPPORTED)
  expect_equal(evaluate(ratio(at_most = 1))$claim_verdict, NOT_SUPPORTED)
})

test_that("the numbers are the statistic's", {
  table <- evaluate(claim(quantity = "ahead_percent", cells = small, arm = "one", against = list("two", "three"), at_least = 10))
  expect_equal(nrow(table), 2)
  expect_equal(table$value, c(50, 66.7), tolerance = 0.05)
  expect_true(all(table$low <= table$value & table$value <= table$high))
  expect_equal(table$n, c(8, 8))
})

test_that("a condition may compare an arm with itself in another cell", {
  table <- evaluate(claim(
    quantity = "ratio", statistic = "mean", arm = "three", cells = list(bandwidth_mbit = "50mbit", loss_percent = 2, object_size = "large"),
    against_cells = list(loss_percent = 0), between = list(1.8, 2.2)
  ))
  expect_equal(table$against, "50mbit-loss0-large")
  expect_equal(table$value, 2, tolerance = 0.1)
  expect_equal(table$verdict, SUPPORTED)
})

test_that("the rule's share, over every ordered pair", {
  arms <- list("one", "two", "three")
  table <- evaluate(claim(quantity = "rule_share", cells = small, arm = arms, against = arms, less_than = 0.7))
  expect_equal(nrow(table), 6)
  expect_equal(sum(table$value == 1), 3)
  expect_equal(unique(table$claim_verdict), NOT_SUPPORTED)
})

test_that("cells won, with what is missing left open", {
  won <- function(...) claim(quantity = "cells_won_percent", cells = list(), arm = "one", against = list("two", "three"), ...)
  expect_equal(evaluate(won(more_than = 40))$value, 100)
  expect_equal(evaluate(won(more_than = 40))$claim_verdict, SUPPORTED)
  three_cells <- function(runs) pick(runs, runs$cell %in% unique(runs$cell)[1:3])
  part <- evaluate(won(more_than = 40), change = three_cells)
  expect_equal(c(part$value, part$low, part$high), c(100, 37.5, 100))
  expect_equal(part$claim_verdict, UNDECIDED)
  shared <- evaluate(claim(
    quantity = "cells_won_percent", cells = list(), arm = "two", against = list("one", "three"), beats = "first_place", more_than = 40
  ))
  expect_equal(shared$value, 0)
  expect_equal(shared$claim_verdict, NOT_SUPPORTED)
})

test_that("a geometric mean over cells needs all of them", {
  over <- claim(quantity = "ratio", cells = list(loss_percent = 0), arm = "one", against = "two", combine = "geometric_mean", less_than = 1)
  whole <- evaluate(over)
  expect_equal(whole$value, 0.5, tolerance = 0.05)
  expect_equal(whole$verdict, SUPPORTED)
  part <- evaluate(over, change = function(runs) pick(runs, runs$cell != "2mbit-loss0-small"))
  expect_equal(part$verdict, UNDECIDED)
  expect_match(part$note, "3 of 4 cells")
})

test_that("nothing measured, or one load, decides nothing", {
  ratio <- claim(quantity = "ratio", cells = small, arm = "two", against = "one", more_than = 1)
  none <- evaluate(ratio, change = function(runs) pick(runs, runs$arm != "two"))
  expect_equal(none$verdict, UNDECIDED)
  expect_equal(none$note, NOT_MEASURED)
  expect_equal(evaluate(ratio, repetitions = 1L)$verdict, UNDECIDED)
})

test_that("in a mean a load that did not finish takes the timeout, and the note says so", {
  table <- evaluate(
    claim(quantity = "ratio", statistic = "mean", cells = small, arm = "two", against = "one", more_than = 1),
    change = function(runs) spoil(runs, which(runs$arm == "two" & runs$repetition == 0), "timeout")
  )
  expect_equal(table$value, (7 * 2 + 60) / 8, tolerance = 0.05)
  expect_match(table$note, "1 of 16 loads did not finish")
})

test_that("one failed condition is enough, and those that do not count do not", {
  expect_equal(combine_verdicts(c(SUPPORTED, UNDECIDED, NOT_SUPPORTED)), NOT_SUPPORTED)
  expect_equal(combine_verdicts(c(SUPPORTED, UNDECIDED)), UNDECIDED)
  expect_equal(combine_verdicts(c(SUPPORTED, SUPPORTED)), SUPPORTED)
  two <- claim(quantity = "ratio", cells = small, arm = "two", against = "one", more_than = 1.5)
  two$test[[2]] <- list(quantity = "ratio", cells = small, arm = "two", against = "one", more_than = 9, counts = FALSE)
  expect_equal(unique(evaluate(two)$claim_verdict), SUPPORTED)
})

test_that("a bound decides at its very value", {
  at <- function(name, value) stats::setNames(list(value), name)
  expect_equal(judge(0.7, 0.7, read_bound(at("at_least", 0.7), "x")), SUPPORTED)
  expect_equal(judge(0.7, 0.7, read_bound(at("less_than", 0.7), "x")), NOT_SUPPORTED)
  expect_equal(judge(3, 3, read_bound(at("more_than", 3), "x")), NOT_SUPPORTED)
  expect_equal(judge(3, 3, read_bound(at("at_most", 3), "x")), SUPPORTED)
  expect_equal(judge(0.5, 0.8, read_bound(at("at_least", 0.7), "x")), UNDECIDED)
  expect_equal(judge(NA, NA, read_bound(at("at_least", 0.7), "x")), UNDECIDED)
})

test_that("a claim that cannot be tested says why", {
  bad <- function(quantity = "ratio", cells = small, ...) {
    evaluate(claim(quantity = quantity, cells = cells, arm = "one", against = "two", ...))
  }
  expect_error(bad("speed", at_least = 1), "claim 'c', condition 1.*quantity")
  expect_error(bad(cells = list(rtt = 1), at_least = 1), "no factor is called 'rtt'")
  expect_error(bad(cells = list(loss_percent = 5), at_least = 1), "has no level 5")
  expect_error(bad(), "0 bounds")
})

test_that("a gap that grows with a change is the difference of the differences", {
  lossy <- list(bandwidth_mbit = 2, loss_percent = 2, object_size = "small")
  growth <- function(..., arm = "one", against = "three") {
    claim(
      quantity = "gap_growth", cells = lossy, against_cells = list(loss_percent = 0), arm = arm, against = against, more_than = 0, ...
    )
  }
  table <- evaluate(growth())
  expect_equal(table$value, (6 - 2) - (3 - 1), tolerance = 0.1)
  expect_true(table$low <= table$value && table$value <= table$high)
  expect_equal(table$verdict, SUPPORTED)
  expect_match(table$what, "growth of the lead of One over Three .* against 0 %")
  expect_equal(evaluate(growth(arm = "three", against = "one"))$verdict, NOT_SUPPORTED)
  stuck <- function(arms) function(runs) spoil(runs, which(runs$cell == "2mbit-loss2-small" & runs$arm %in% arms), "timeout")
  expect_equal(evaluate(growth(), change = stuck("three"))$verdict, SUPPORTED)
  expect_equal(evaluate(growth(), change = stuck("three"))$note, "8 of 32 loads did not finish")
  expect_equal(evaluate(growth(), change = stuck(c("one", "three")))$verdict, UNDECIDED)
  expect_error(evaluate(claim(quantity = "gap_growth", cells = lossy, arm = "one", against = "three", more_than = 0)), "against_cells")
})
