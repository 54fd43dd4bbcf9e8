#' Two measurements as files; in the second one arm is slower in one cell.
two_days <- function(study, n = 12L, factor = 1.3) {
  first <- simulate_runs(study, n, seed = 1L)
  second <- simulate_runs(study, n, seed = 2L)
  here <- second$cell == "50mbit-loss2-large" & second$arm == "two"
  second$plt_s[here] <- second$plt_s[here] * factor
  second$session <- "s2"
  c(write_runs(first), write_runs(second))
}

moved_of <- function(study, paths, ...) {
  found <- read_measurements(study, paths, ...)
  compare_measurements(found$runs, found$study)
}

test_that("only the cell that moved is said to have moved", {
  study <- as_study()
  table <- moved_of(study, two_days(study), labels = c("monday", "tuesday"))
  expect_equal(nrow(table), 24)
  moved <- pick(table, table$state == MOVED)
  expect_equal(c(moved$cell, moved$arm, moved$reference, moved$measurement), c("50mbit-loss2-large", "two", "monday", "tuesday"))
  expect_equal(moved$ratio, 1.3, tolerance = 0.06)
  expect_true(moved$shift_low > 0 && moved$shift_high < 0.5)
  expect_equal(table$p_adjusted, stats::p.adjust(table$p, "holm"))
  expect_equal(unique(table$n_pairs), 12)
})

test_that("an interval within the tolerance is said to be so, whether or not its difference is significant", {
  study <- as_study()
  table <- moved_of(study, two_days(study))
  moved <- pick(table, table$state == MOVED)
  expect_false(moved$tolerated)
  expect_equal(table$tolerated, table$low >= 0.95 & table$high <= 1.05)
  expect_match(moved_lines(table, study)[2], sprintf("^%d of 24 intervals lie within", sum(table$tolerated)))
  runs <- simulate_runs(study, 12L)
  slower <- data.table::copy(runs)
  slower$plt_s <- 1.01 * slower$plt_s
  table <- moved_of(study, c(write_runs(runs), write_runs(slower)))
  expect_true(all(table$state == MOVED & table$tolerated))
})

test_that("the same again does not move, and few loads cannot", {
  study <- as_study()
  expect_setequal(moved_of(study, two_days(study, factor = 1))$state, UNMOVED)
  few <- moved_of(study, two_days(study, n = 2L))
  expect_setequal(few$state, UNMOVED)
  expect_match(moved_key(few, study)[2], "with so few loads per cell none can be")
})

test_that("tables alone are enough, and what one of them lacks is not measured", {
  study <- as_study()
  paths <- two_days(study)
  second <- data.table::fread(paths[2])
  data.table::fwrite(pick(second, second$arm != "three"), paths[2])
  own <- study_of_tables(paths)
  table <- moved_of(own, paths)
  expect_equal(sum(table$state == MOVED), 1)
  expect_equal(unique(table$arm[table$state == NOT_MEASURED]), "three")
  expect_silent(save_figure(draw_moved(table, own), tempfile(fileext = ".pdf")))
})

test_that("sessions and machines of one table can be the measurements", {
  study <- as_study()
  expect_equal(sum(moved_of(study, two_days(study), by = "session")$state == MOVED), 1)
  expect_error(read_measurements(study, two_days(study), by = "room"), "no column 'room'")
})

test_that("one arm under two names", {
  study <- as_study()
  runs <- read_measurements(study, two_days(study)[1], by = "arm")$runs
  table <- compare_measurements(same_arm(runs, study, c("one", "two")), study)
  expect_equal(unique(table$measurement), "two")
  expect_setequal(table$state, UNMOVED)
  expect_error(same_arm(runs, study, c("one", "four")), "no load is of 'four'")
  expect_error(same_arm(runs, study, "one"), "names 1 arms")
})

test_that("machines within both measurements are blocks, and their names belong to the pairs", {
  study <- as_study()
  with_machines <- function(seed, slow) {
    parts <- lapply(c("m1", "m2"), function(machine) {
      runs <- simulate_runs(study, 6L, seed = seed + (machine == "m2"))
      runs$machine <- machine
      runs$plt_s <- runs$plt_s * (if (machine == "m2") 3 else 1) * slow
      runs
    })
    write_runs(data.table::rbindlist(parts))
  }
  table <- moved_of(study, c(with_machines(1L, 1), with_machines(5L, 1.3)))
  expect_equal(unique(table$n_pairs), 12)
  expect_true(all(table$state == MOVED))
})

test_that("loads without a common repetition are two samples", {
  study <- as_study()
  paths <- two_days(study)
  second <- data.table::fread(paths[2])
  second$repetition <- second$repetition + 100L
  data.table::fwrite(second, paths[2])
  table <- moved_of(study, paths)
  expect_equal(unique(table$test), "rank-sum")
  expect_equal(sum(table$state == MOVED), 1)
})

test_that("the program prints and writes, and refuses what it cannot use", {
  study <- as_study()
  paths <- two_days(study)
  folder <- tempfile()
  done <- run_r("run_compare.R", c("--runs", paths[1], "--runs", paths[2], "--labels", "a,b", "--output", folder))
  expect_equal(done$status, 0L, info = done$stderr)
  expect_match(done$stdout, "1 of 24 cells and arms moved")
  expect_true(all(file.exists(file.path(folder, c("moved.csv", "moved.pdf", "moved.svg")))))
  wrong <- function(...) run_r("run_compare.R", c(..., "--output", folder))$stderr
  expect_match(wrong("--runs", paths[1], "--runs", paths[1]), "names one file twice")
  expect_match(wrong("--runs", paths[1]), "is one measurement only")
  expect_match(wrong("--runs", paths[1], "--runs", "/nowhere.csv"), "/nowhere.csv: no such file")
  expect_match(wrong("--runs", paths[1], "--runs", paths[2], "--metric", "speed"), "has no column 'speed'")
})
