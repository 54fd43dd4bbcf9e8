draw_all <- function(study, runs, calibration = empty_calibration()) {
  index <- outcome_index(runs)
  data <- list(
    runs = function() runs, comparisons = function() compare_pairs(index, study, intervals = FALSE),
    winners = function() winner_table(index, study), calibration = function() calibration
  )
  folder <- tempfile()
  for (figure in study$figures) save_figure(draw_figure(figure, study, data), file.path(folder, paste0(figure$name, ".pdf")))
  folder
}

sums <- function(folder) unname(tools::md5sum(sort(list.files(folder, full.names = TRUE))))

some_links <- function() {
  folder <- tempfile()
  dir.create(folder)
  check <- function(quantity, asked, measured) {
    list(
      quantity = quantity, direction = "both", asked = asked, measured = measured, low = measured, high = measured, n = 10,
      tolerance = 1, verdict = "pass"
    )
  }
  link <- list(
    link = list(bandwidth_mbit = 2, rtt_ms = 18, loss_percent = 0), name = "a", backend = "b", backend_version = "1",
    checks = list(check("rtt_ms", 18, 18.5), check("reordered", 0, 0))
  )
  bare <- list(
    link = list(bandwidth_mbit = "unshaped", rtt_ms = 0, loss_percent = 0), name = "b", backend = "b", backend_version = "1",
    checks = list(check("loss_percent", 0, 0))
  )
  files <- file.path(folder, c("a.json", "b.json"))
  jsonlite::write_json(link, files[1], auto_unbox = TRUE)
  jsonlite::write_json(bare, files[2], auto_unbox = TRUE)
  read_calibration(paste(files, collapse = ","))
}

test_that("every figure is the same to the byte when drawn twice", {
  study <- as_study()
  runs <- simulate_runs(study, 6L, function(cell, arm) c(one = 1, two = 1.5, three = 3)[[arm]])
  runs <- as_runs(spoil(spoil(runs, 1:5, "failed"), 10:12, "invalid"), study)
  first <- draw_all(study, runs, some_links())
  Sys.sleep(1.1)
  second <- draw_all(study, runs, some_links())
  expect_length(list.files(first), 12)
  expect_identical(sums(first), sums(second))
})

test_that("little or no data still draws every figure, without a warning", {
  study <- as_study()
  runs <- simulate_runs(study, 2L)
  one_cell <- as_runs(pick(runs, runs$cell == "2mbit-loss0-small"), study)
  expect_silent(folder <- draw_all(study, one_cell))
  expect_length(list.files(folder), 12)
  one_load <- pick(one_cell, one_cell$repetition == 0 & one_cell$arm == "one")
  expect_silent(draw_all(study, one_load))
  expect_silent(draw_all(study, read_runs(character(), study)))
})

test_that("all loads of a pair failed: the tile says so and carries no colour", {
  study <- as_study()
  runs <- simulate_runs(study, 4L)
  runs <- spoil(runs, which(runs$arm == "two" & runs$cell == "2mbit-loss0-small"), "timeout")
  comparisons <- compare_pairs(outcome_index(as_runs(runs, study)), study, intervals = FALSE)
  tiles <- heatmap_tiles(comparisons)
  here <- pick(tiles, tiles$b == "two" & tiles$cell == "2mbit-loss0-small")
  expect_equal(here$kind, "failed")
  expect_true(is.na(here$shade))
  expect_equal(here$text, "\u2212fail")
})

test_that("a pair gets a panel if both arms are planned, or if it was measured", {
  study <- as_study()
  planned <- vapply(study$arms, `[[`, "", "name")[1:2]
  figure <- list(pairs = list(planned, list(planned[1], "left-out"), list(planned[1], "published")))
  tiles <- data.table::data.table(
    a = planned[1], b = c(planned[2], "left-out", "published"), state = c("unmeasured", "unmeasured", "measured")
  )
  expect_equal(drawn_pairs(figure, study, tiles)$b, c(planned[2], "published"))
})

test_that("a difference of exactly 5 % carries no number, more does", {
  tiles <- data.frame(
    state = "measured", median_a = 1, median_b = 1, ratio = c(1.05, 1.06, 0.95, 0.94, 12), rule = TIE,
    significant = c(FALSE, TRUE, FALSE, FALSE, TRUE)
  )
  tiles$difference_percent <- 100 * (tiles$ratio - 1)
  expect_equal(heatmap_tiles(tiles, 5)$text, c("", "+6*", "", "\u22126", "\u00d712*"))
})

test_that("a curve of loads that did not all finish stays below 1", {
  study <- as_study()
  runs <- simulate_runs(study, 4L)
  cell <- study$design$cell[1]
  runs <- as_runs(spoil(runs, which(runs$cell == cell & runs$arm == "one" & runs$repetition == 0)), study)
  points <- ecdf_points(runs, cell, c("one", "two"))
  expect_equal(max(points$share[points$arm == "one"]), 0.75)
  expect_equal(max(points$share[points$arm == "two"]), 1)
  expect_equal(min(points$share), 0)
})

test_that("what a figure lacks is said", {
  study <- as_study()
  runs <- simulate_runs(study, 2L)
  runs <- as_runs(pick(runs, !(runs$cell == "2mbit-loss2-small" & runs$arm == "one")), study)
  text <- absent_text(runs, study, c("2mbit-loss0-small", "2mbit-loss2-small"), c("one", "two"))
  expect_equal(text, "Not measured: One in 2mbit-loss2-small.")
})

test_that("an unknown figure, kind or factor is refused", {
  study <- as_study()
  expect_error(find_figure(study, "figure-9"), "no figure 'figure-9'")
  expect_error(draw_figure(list(name = "x", kind = "pie"), study, list()), "no kind of figure is called 'pie'")
  runs <- as_runs(simulate_runs(study, 2L), study)
  comparisons <- compare_pairs(outcome_index(runs), study, intervals = FALSE)
  figure <- list(name = "x", rows = list("loss_percent"), columns = list("object_size"))
  expect_error(draw_heatmap(figure, study, comparisons), "factor 'bandwidth_mbit'")
})

test_that("deviations are relative where something was asked for", {
  table <- calibration_deviation(some_links())
  expect_equal(table$deviation, c(0, 100 * 0.5 / 18, 0), tolerance = 1e-6)
  expect_equal(table$panel, c("Loss where none was asked (%)", "RTT (% of asked)", "Reordered packets (count)"))
})
