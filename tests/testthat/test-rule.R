rule <- list(share = 0.7, margin = 0.1, comparisons = "all")

test_that("exactly 10 % lower counts, a little less does not", {
  expect_equal(beat_share(c(0.9, 1.8, 2.7), c(1, 2, 3), 0.1, "paired"), NA_real_)
  expect_equal(beat_share(loads(0.9, 1.8, 2.7), loads(1, 2, 3), 0.1, "paired"), 1)
  expect_equal(beat_share(loads(0.9001, 1.8001, 2.7001), loads(1, 2, 3), 0.1, "paired"), 0)
  expect_equal(beat_share(loads(0.9), loads(1), 0.1), 1)
  expect_equal(beat_share(loads(0.90001), loads(1), 0.1), 0)
})

test_that("all comparisons are every pair, also for unequal n", {
  a <- loads(1, 2, 3)
  b <- loads(2, 3, 4, 10)
  by_hand <- mean(outer(a, b, function(x, y) x <= 0.9 * y))
  expect_equal(beat_share(a, b, 0.1), by_hand)
  expect_equal(by_hand, 9 / 12)
  expect_equal(count_comparisons(a, b), 12)
})

test_that("paired comparisons use equal repetitions only", {
  a <- c(`0` = 1, `2` = 1, `7` = 1)
  b <- c(`2` = 2, `0` = 1, `9` = 5)
  expect_equal(beat_share(a, b, 0.1, "paired"), 0.5)
  expect_equal(count_comparisons(a, b, "paired"), 2L)
})

test_that("a share of exactly 70 % wins, less does not", {
  b <- loads(rep(1, 10))
  seven <- loads(rep(0.5, 7), rep(1, 3))
  six <- loads(rep(0.5, 6), rep(1, 4))
  expect_true(wins(beat_share(seven, b, 0.1), rule))
  expect_true(wins(beat_share(seven, b, 0.1, "paired"), rule))
  expect_false(wins(beat_share(six, b, 0.1), rule))
  expect_false(wins(NA_real_, rule))
})

test_that("a finished load beats one that did not finish, and two that did not finish tie", {
  expect_equal(beat_share(loads(100), loads(Inf), 0.1), 1)
  expect_equal(beat_share(loads(Inf), loads(100), 0.1), 0)
  expect_equal(beat_share(loads(Inf), loads(Inf), 0.1), 0)
  expect_equal(beat_share(loads(1, Inf), loads(Inf, Inf), 0.1), 0.5)
  expect_equal(beat_share(loads(Inf, 1), loads(Inf, Inf), 0.1, "paired"), 0.5)
})

test_that("the winners are who beats all others, or two that beat the third", {
  arms <- c("a", "b", "c")
  beats <- function(...) {
    matrix <- matrix(FALSE, 3, 3, dimnames = list(arms, arms))
    for (duel in list(...)) matrix[duel[1], duel[2]] <- TRUE
    cell_winners(matrix)
  }
  expect_equal(beats(c("a", "b"), c("a", "c")), "a")
  expect_equal(beats(c("a", "c"), c("b", "c")), c("a", "b"))
  expect_equal(beats(c("a", "b"), c("b", "c"), c("a", "c")), "a")
  expect_equal(beats(c("a", "b")), character())
  expect_equal(beats(), character())
  expect_equal(beats(c("a", "b"), c("b", "c")), character())
})

test_that("the winner of a cell needs loads of all arms", {
  study <- as_study()
  runs <- simulate_runs(study, 10L, function(cell, arm) c(one = 1, two = 2, three = 4)[[arm]])
  runs <- pick(runs, !(runs$cell == study$design$cell[2] & runs$arm == "two"))
  winners <- winner_table(outcome_index(as_runs(runs, study)), study)
  expect_equal(winners$winners, c("one", NOT_MEASURED, rep("one", 6)))
  expect_equal(winners$missing[2], "two")
})

test_that("replicates of the share agree with the share of each resample", {
  a <- loads(1, 2, 3, Inf)
  b <- loads(2, 3, 4, 5)
  draws <- draw_rows(4L, 50L, 1L)
  for (kind in c("all", "paired")) {
    by_hand <- apply(draws, 1, function(rows) {
      beat_share(loads(unname(a[rows])), loads(unname(b[rows])), 0.1, kind)
    })
    expect_equal(replicate_share(a, b, draws, draws, 0.1, kind), by_hand)
  }
})

test_that("equal arms win no more than rarely (labels shuffled)", {
  values <- with_seed(3L, matrix(exp(0.1 * stats::rnorm(2 * 20 * 400)), 400))
  won <- apply(values, 1, function(row) {
    a <- loads(row[1:20])
    b <- loads(row[21:40])
    wins(beat_share(a, b, 0.1), rule) || wins(beat_share(b, a, 0.1), rule)
  })
  expect_lt(mean(won), 0.05)
})

test_that("the winners of a cell are those that a search through all groups of arms finds", {
  by_search <- function(beats) {
    arms <- rownames(beats)
    for (size in seq_len(length(arms) - 1L)) {
      for (group in utils::combn(arms, size, simplify = FALSE)) {
        if (all(beats[group, setdiff(arms, group)]) && !any(beats[group, group])) {
          return(group)
        }
      }
    }
    character()
  }
  random <- function(arms, density) {
    beats <- matrix(stats::runif(arms^2) < density, arms, arms, dimnames = list(letters[seq_len(arms)], letters[seq_len(arms)]))
    # A group that wins is rare among random ones: most are given one.
    first <- sample(arms, sample(arms, 1L))
    if (stats::runif(1) < 0.8) beats[first, ] <- rep(!seq_len(arms) %in% first, each = length(first))
    diag(beats) <- FALSE
    beats
  }
  with_seed(7L, {
    sizes <- integer()
    for (i in seq_len(2000L)) {
      beats <- random(sample(6L, 1L), stats::runif(1))
      expected <- by_search(beats)
      sizes <- c(sizes, length(expected))
      expect_identical(cell_winners(beats), expected)
    }
    expect_true(all(0:4 %in% sizes))
  })
})

test_that("many arms have winners, too", {
  arms <- sprintf("a%02d", 1:60)
  beats <- matrix(FALSE, 60L, 60L, dimnames = list(arms, arms))
  beats[arms[1:30], arms[31:60]] <- TRUE
  expect_identical(cell_winners(beats), arms[1:30])
  beats["a01", "a02"] <- TRUE
  expect_identical(cell_winners(beats), character())
})
