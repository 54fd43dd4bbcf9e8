draw_all <- function(study, runs, calibration = empty_calibration()) {
  data <- list(
    runs = function() runs, index = function() outcome_index(runs), statistics = function(name, make) make(),
    calibration = function() calibration
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

test_that("a link says what it is besides rate, delay and loss, and links of one rate are told apart", {
  link <- list(bandwidth_mbit = 2, rtt_ms = 18, loss_percent = 0, bandwidth_up_mbit = 0.5, aqm = "pie", ecn = TRUE, reorder_percent = 2)
  expect_identical(link_features(link), "0.5 Mbit/s up, pie, ECN, 2 % reordered")
  expect_identical(link_features(list(bandwidth_mbit = 2)), "")
  expect_identical(link_features(list(bandwidth_mbit = 2, rate_trace = "walk@0123456789abcdef")), "as walk")
  table <- some_links()
  expect_identical(unique(table$more), "")
  table$more[1] <- "pie, ECN"
  expect_identical(link_label(table)[1], paste0(link_label(some_links())[1], ", pie, ECN"))
  study <- as_study()
  expect_identical(other_links(study), "")
  study$cells[[1]]$link <- link
  expect_match(other_links(study), "(0.5 Mbit/s up, pie, ECN, 2 % reordered)", fixed = TRUE)
})

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
  expect_error(draw_comparisons(figure, study, comparisons), "factor 'bandwidth_mbit'")
})

test_that("deviations are relative where something was asked for", {
  table <- calibration_deviation(some_links())
  expect_equal(table$deviation, c(0, 100 * 0.5 / 18, 0), tolerance = 1e-6)
  expect_equal(table$panel, c("Loss where none was asked (%)", "RTT (% of asked)", "Reordered packets (count)"))
})

test_that("all as the arms of a plan's figure is every arm", {
  plan <- test_plan()
  plan$figures <- list(list(name = "failed", kind = "failures", title = "Failures", arms = "all"))
  study <- as_study(plan)
  expect_identical(figure_arms(study$figures[[1]], character()), study$arm_table$arm)
  expect_match(svg_of(study, simulate_runs(study, 3L)), sprintf("All of %d loads in", nrow(simulate_runs(study, 3L))))
})

test_that("a figure of arms without loads does not say that all of them finished", {
  plan <- test_plan()
  plan$figures <- list(list(name = "failed", kind = "failures", title = "Failures", arms = list("three")))
  study <- as_study(plan)
  runs <- simulate_runs(study, 3L)
  expect_match(svg_of(study, pick(runs, runs$arm != "three")), "No load of Three")
})

test_that("headings of heatmaps stand whole in lines that fit", {
  study <- as_study()
  study$arm_table$label <- "HTTP/3 (a server of a long name, with a window of ten)"
  pairs <- study$comparison$pair_table
  letters <- letters_across(c("2 Mbit/s, 0 %", "50 Mbit/s, 2 %"), 4L)
  titles <- pair_titles(study, pairs, letters)
  expect_true(all(nchar(unlist(strsplit(titles, "\n", fixed = TRUE))) <= letters))
  whole <- paste(study$arm_table$label[1], "against", study$arm_table$label[1])
  expect_identical(gsub("\n", " ", titles, fixed = TRUE), rep(whole, nrow(pairs)))
})

test_that("labels of arms across stand upright where they do not fit side by side", {
  study <- as_study()
  arms <- sprintf("arm-%02d", 1:36)
  study$arm_table <- data.table::data.table(arm = arms, label = sprintf("Arm %02d (of a server)", 1:36), group = arms)
  expect_identical(arms_across(study, arms[1:4])$height, 0)
  turned <- arms_across(study, arms)
  expect_identical(turned$parts[[2]]$axis.text.x$angle, 90)
  expect_gt(turned$height, 20)
  shown <- turned$parts[[1]]$labels(arms)
  expect_identical(shown, study$arm_table$label)
})

test_that("panels of distributions have one axis, logarithmic where they differ much", {
  points <- function(ends) data.table::data.table(panel = factor(seq_along(ends)), value = ends, arm = "a", share = 1)
  near <- cdf_axis(points(c(1, 3)))
  expect_equal(near$scale$limits, c(0, 3 * 1.04))
  expect_identical(near$key, "")
  far <- cdf_axis(points(c(1, 30)))
  expect_match(far$key, "logarithmic")
  expect_equal(far$end, 1.15 * 30)
  study <- as_study()
  study$figures <- list(list(name = "shares", kind = "cdf", cells = list(loss_percent = 0, object_size = "small")))
  runs <- simulate_runs(study, 3L, speed = function(cell, arm) if (cell$bandwidth_mbit == 2) 2 else 1)
  drawn <- draw_figure(study$figures[[1]], study, figure_data(study, list(runs = write_runs(runs))))
  ranges <- lapply(ggplot2::ggplot_build(drawn$plot)$layout$panel_params, function(panel) panel$x.range)
  expect_length(ranges, 2L)
  expect_identical(ranges[[1]], ranges[[2]])
})
