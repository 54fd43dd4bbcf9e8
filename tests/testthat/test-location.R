a <- loads(1.1, 2.3, 0.7, 3.9, 2.2, 5.1)
b <- loads(1.9, 2.1, 1.6, 5.2, 3.3, 5.9)

test_that("the tests agree with R's own exact ones", {
  expect_equal(location_test(matched(a, b, "paired")), stats::wilcox.test(a, b, paired = TRUE, exact = TRUE)$p.value)
  expect_equal(location_test(matched(a, b, "independent")), stats::wilcox.test(a, b, exact = TRUE)$p.value)
})

test_that("ties and zeros are permuted, not broken", {
  # Differences 0, 1, 1, -2: Pratt's ranks 1 (of the zero), 2.5, 2.5, 4; of the 8 equally likely sums of signed ranks 2 are
  # at least as far from 0 as 2.5 + 2.5 - 4 = 1 … all are.
  expect_equal(location_test(matched(loads(3, 2, 2, 1), loads(3, 1, 1, 3), "paired")), 1)
  # 0, 1, 1, 1: |sum| = 9 is the extreme, in 2 of 8.
  expect_equal(location_test(matched(loads(3, 2, 2, 2), loads(3, 1, 1, 1), "paired")), 2 / 8)
  # 1 1 2 against 2 3 3: the sum of ranks of a is the lowest in 2 of 20, and as far away at the other end in 2.
  tied <- coin::wilcox_test(c(1, 1, 2, 2, 3, 3) ~ gl(2, 3), distribution = "exact")
  expect_equal(location_test(matched(loads(1, 1, 2), loads(2, 3, 3), "independent")), as.numeric(coin::pvalue(tied)))
})

test_that("differences that are equal in decimals are ties", {
  expect_false(31.1 - 30.9 == 0.9 - 0.7)
  difference <- censored_difference(loads(1.1, 0.9, 31.1), loads(0.9, 0.7, 30.9))
  expect_equal(unname(rank(difference)), c(2, 2, 2))
  expect_equal(unname(censored_difference(c(1e-6, 2e-6), c(2e-6, 1e-6))), c(-1e-6, 1e-6))
  expect_equal(censored_difference(c(Inf, Inf, 1), c(Inf, 1, Inf)), c(0, Inf, -Inf))
})

test_that("nothing to test is NA or 1, never an error", {
  for (design in c("paired", "independent")) {
    expect_identical(location_test(matched(loads(), loads(1), design)), NA_real_)
    expect_equal(location_test(matched(loads(1, 1), loads(1, 1), design)), 1)
    expect_equal(location_test(matched(loads(1), loads(2), design)), 1)
    expect_equal(location_test(matched(loads(Inf, Inf), loads(Inf, Inf), design)), 1)
    expect_equal(shift_interval(matched(loads(), loads(1), design), 0.95), rep(NA_real_, 3))
    expect_equal(shift_interval(matched(loads(3), loads(1), design), 0.95), c(2, NA, NA))
  }
  expect_equal(location_test(matched(loads(1), loads(2, 3), "paired")), 1)
})

test_that("a load that did not finish has the highest rank", {
  x <- loads(1, 2, 3, 4, 5)
  expect_equal(
    location_test(matched(x, loads(6, 7, 8, 9, Inf), "independent")), stats::wilcox.test(1:5, c(6:9, 100), exact = TRUE)$p.value
  )
  expect_equal(location_test(matched(x, loads(1.5, 2.6, 3.7, 4.8, Inf), "paired")), 2 / 2^5)
})

test_that("unequal numbers of loads are all used in an independent design, the shared ones in a paired design", {
  expect_equal(location_test(matched(a, b[1:4], "independent")), stats::wilcox.test(a, b[1:4], exact = TRUE)$p.value)
  samples <- matched(a, b[c(2, 5)], "paired")
  expect_equal(names(samples$a), c("1", "4"))
})

test_that("the shift by hand", {
  x <- loads(1, 2, 4)
  y <- loads(3, 3, 3)
  expect_equal(shift_interval(matched(x, y, "independent"), 0.95)[1], stats::median(outer(c(1, 2, 4), c(3, 3, 3), "-")))
  expect_equal(shift_interval(matched(x, y, "paired"), 0.95)[1], stats::median(c(-2, -1, 1, -1.5, -0.5, 0)))
  expect_identical(shift_interval(matched(loads(Inf, Inf), loads(1, 1), "paired"), 0.95), rep(NA_real_, 3))
  # One fails on either side: nobody is ahead.
  expect_equal(shift_interval(matched(loads(Inf, 1), loads(1, Inf), "paired"), 0.95)[1], 0)
})

test_that("the shift's interval is R's own", {
  for (paired in c(TRUE, FALSE)) {
    own <- stats::wilcox.test(a, b, paired = paired, exact = TRUE, conf.int = TRUE, conf.level = 0.9)
    found <- shift_interval(matched(a, b, if (paired) "paired" else "independent"), 0.9)
    expect_equal(found, unname(c(own$estimate, own$conf.int)))
  }
})

test_that("the interval holds 0 exactly when the test does not refuse it", {
  for (seed in 1:40) {
    pair <- with_seed(seed, list(a = stats::rnorm(9, 0.6), b = stats::rnorm(9)))
    for (design in c("paired", "independent")) {
      samples <- matched(loads(pair$a), loads(pair$b), design)
      interval <- shift_interval(samples, 0.95)[2:3]
      expect_equal(interval[1] <= 0 && 0 <= interval[2], location_test(samples) > 0.05)
    }
  }
})

test_that("an interval may be open where loads did not finish", {
  x <- loads(1, 1.1, 1.2, 1.3, 1.4, Inf, Inf)
  found <- shift_interval(matched(x, loads(0.5, 0.6, 0.4, 0.55, 0.51, 0.52, 0.53), "paired"), 0.95)
  expect_true(is.finite(found[1]) && is.finite(found[2]))
  expect_equal(found[3], Inf)
})

test_that("in an independent design only loads of one block are compared", {
  blocks <- rep(c("x", "y"), each = 4)
  # The second block is ten times as slow; the arm with more loads in it must not look slow for that.
  first <- as_sample(loads(1, 1.2, 1.1, 1.3, 10, 11, 12, 13), "s", blocks)
  second <- as_sample(loads(2, 2.2, 2.1, 2.3, 2.4, 20, 21, 22), "s", c(rep("x", 5), rep("y", 3)))
  samples <- matched_samples(first, second, "independent")
  expect_equal(samples$strata$level, "block")
  # U is 0 in both blocks: the extreme of choose(9, 4) * choose(7, 4) orders.
  expect_equal(location_test(samples), 2 / (choose(9, 4) * choose(7, 4)))
  expect_lt(location_test(samples), location_test(matched(first$values, second$values, "independent")))
  within <- c(outer(first$values[1:4], second$values[1:5], "-"), outer(first$values[5:8], second$values[6:8], "-"))
  expect_equal(shift_interval(samples, 0.95)[1], stats::median(within))
})

test_that("the blocked test agrees with coin's, with and without ties", {
  blocks <- list(rep(c("u", "v", "w"), 4), rep(c("u", "v"), 5))
  for (digits in c(5, 0)) {
    values <- with_seed(digits + 1, round(stats::rnorm(22, 5, 2), digits))
    samples <- matched_samples(
      as_sample(loads(values[1:12]), "s", blocks[[1]]),
      as_sample(loads(values[13:22]), "s", blocks[[2]]), "independent"
    )
    block <- unlist(blocks)
    both <- block != "w"
    data <- data.frame(
      rank = stats::ave(values, block, FUN = rank)[both], arm = factor(rep(1:2, c(12, 10))[both]), block = factor(block[both])
    )
    own <- coin::pvalue(coin::oneway_test(rank ~ arm | block, data = data, distribution = "exact"))
    expect_equal(location_test(samples), as.numeric(own))
  }
})

test_that("arms that share no block are compared within sessions, then at all, and the test's name says so", {
  one <- as_sample(loads(1, 2, 3), "s1", "s1/0")
  two <- as_sample(loads(4, 5, 6), "s1", "s1/1")
  three <- as_sample(loads(4, 5, 6), "s2", "s2/0")
  expect_equal(test_name(matched_samples(one, two, "independent")), "rank-sum, within sessions")
  expect_equal(test_name(matched_samples(one, three, "independent")), "rank-sum")
  expect_equal(test_name(matched_samples(one, three, "paired")), "signed-rank, paired by repetition")
})

test_that("large samples take the limit and stay close to the exact value", {
  big <- with_seed(1, list(a = stats::rnorm(120), b = stats::rnorm(120, 0.2)))
  x <- loads(big$a)
  y <- loads(big$b)
  exact <- stats::wilcox.test(x, y, exact = TRUE, conf.int = TRUE)
  expect_equal(location_test(matched(x, y, "independent")), exact$p.value, tolerance = 0.01)
  expect_equal(shift_interval(matched(x, y, "independent"), 0.95), unname(c(exact$estimate, exact$conf.int)), tolerance = 0.02)
})
