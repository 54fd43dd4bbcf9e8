test_that("clients are compared with the best of their server and protocol", {
  study <- server_study(
    kind = "consistency", cells = list(loss_percent = 0, object_size = "small"),
    arms = list("a-h3", "a-h2", "b-h3", "b-h3-other", "gone")
  )
  runs <- as_runs(simulate_runs(study, 4L, function(cell, arm) if (arm == "b-h3-other") 1.5 else 1, spread = 0), study)
  table <- consistency_table(study, runs, CELL, study$arm_table$arm)
  expect_equal(table$percent[match(c("a-h3", "a-h2", "b-h3", "b-h3-other"), table$arm)], c(0, 0, 0, 50))
  expect_equal(table$clients[table$arm %in% c("a-h3", "b-h3")], c(1, 2))
  expect_equal(consistency_text(table, 5), c("alone", "alone", "", "+50"))
  path <- write_runs(runs[, names(simulate_runs(study, 1L)), with = FALSE])
  expect_silent(picture <- picture_of(study, path))
  expect_match(picture, "\\+50")
  expect_match(picture, "H3, c3")
})

test_that("clients that differ in their own options are told apart by them", {
  study <- server_study(kind = "consistency", cells = list(CELL))
  other <- which(vapply(study$arms, `[[`, "", "name") == "b-h3-other")
  study$arms[[other]]$client <- study$arms[[other - 1L]]$client
  study$arms[[other]]$own_options <- list(server = list(initial_rtt_ms = 33), client = list(key_group = "P-256"))
  labels <- as.character(client_labels(study, c("b-h3", "b-h3-other")))
  expect_equal(labels[2], paste0(labels[1], ", key group P-256"))
})

test_that("a client of which half the loads failed says so, one that is missing stays empty", {
  study <- server_study(kind = "consistency", cells = list(CELL))
  runs <- simulate_runs(study, 4L)
  runs <- spoil(runs, which(runs$arm == "b-h3-other"))
  table <- consistency_table(study, as_runs(pick(runs, runs$arm != "a-h2"), study), CELL, study$arm_table$arm)
  expect_equal(consistency_text(table, 5), c("alone", "", "", "fail"))
})

test_that("a heatmap of another metric corrects its p-values over itself", {
  study <- server_study(
    kind = "heatmap", rows = list("loss_percent"), columns = list("object_size"), cells = list(bandwidth_mbit = 2),
    pairs = list(list("b-h3-other", "b-h3")), metric = list(column = "cpu_s", label = "Processor time", short = "CPU", unit = "s")
  )
  runs <- simulate_runs(study, 8L)
  runs$cpu_s <- runs$plt_s * ifelse(runs$arm == "b-h3-other", 1.3, 1)
  expect_silent(picture <- picture_of(study, write_runs(runs)))
  expect_match(picture, "over all of this figure")
  expect_match(picture, "Median CPU")
  expect_match(picture, ">\\+[23][0-9]\\*")
})

test_that("cells where nobody can be compared are left out, unless that leaves nothing", {
  table <- data.table::data.table(cell = c("a", "a", "b"), clients = c(2L, 2L, 1L), median = c(1, 2, 1))
  expect_equal(compared_cells(table, c("a", "b")), "a")
  expect_equal(compared_cells(pick(table, table$cell == "b"), "b"), "b")
  expect_equal(left_out_text(3L), "3 cells with one client of each protocol are left out.")
  expect_null(left_out_text(0L))
})
