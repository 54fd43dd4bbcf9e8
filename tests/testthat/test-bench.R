test_that("the parts of the overhead are averaged and the largest comes first", {
  overhead <- data.table::data.table(
    study = "s", cell = "c", arm = "a", repetition = 0:1, status = "ok", network_s = 1, wall_s = 2,
    load = 1, write = c(0.1, 0.3), quiet = c(0.5, NA)
  )
  parts <- overhead_parts(overhead)
  expect_equal(parts$part, c("quiet", "write"))
  expect_equal(parts$seconds, c(0.5, 0.2))
})

test_that("links are compared with what was asked, and checks that ask for nothing are left out", {
  accuracy <- data.table::data.table(
    quantity = c("rtt_ms", "loss_percent"), asked = c(20, 0), measured = c(21, 0.1)
  )
  expect_equal(link_deviation(accuracy)$deviation_percent, 5)
})

test_that("shares of goodput come in long form, without what did not work", {
  table <- data.table::data.table(arm = c("a", "b"), unseen_mbit = c(100, NA), qlog_share = c(0.5, NA), both_share = c(0.4, NA))
  expect_equal(goodput_shares(table), data.table::data.table(arm = "a", way = c("qlog", "both"), share = c(0.5, 0.4)))
  expect_s3_class(plot_shares(table, "Goodput", 1), "ggplot")
})
