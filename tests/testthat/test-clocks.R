#' One table of each clock: in real time every load takes what `adds` says longer and its programs compute `processor` seconds.
two_clocks <- function(study, adds, processor = 0.05, spread = 0.001, real = 20L, virtual = 12L) {
  slow <- simulate_runs(study, real, spread = spread, seed = 1L)
  slow$plt_s <- slow$plt_s + adds(slow)
  free <- simulate_runs(study, virtual, spread = spread, seed = 2L)
  parts <- list(virtual = free, real = slow)
  vapply(names(parts), function(clock) {
    runs <- parts[[clock]]
    runs$clock <- clock
    # Two thirds of it in the server; in virtual time the number means nothing.
    runs$cpu_server_s <- if (clock == "real") processor * 2 / 3 else 9
    runs$cpu_client_s <- if (clock == "real") processor / 3 else 9
    runs$packets_down <- if (clock == "real") 100L else 110L
    write_runs(runs)
  }, "")
}

clocks_of <- function(study, paths) compare_clocks(read_clocks(study, paths[["virtual"]], paths[["real"]]))

test_that("what lies between nothing and the processor's time is explained, and what is beyond is left over", {
  study <- as_study(certain_plan())
  # A load takes 1 s.
  adds <- c(one = 0.03, two = 0.1, three = -0.08)
  table <- clocks_of(study, two_clocks(study, function(runs) adds[runs$arm]))
  expect_equal(nrow(table), 24)
  expect_equal(table$verdict, ifelse(table$arm == "one", EXPLAINED, LEFT_OVER))
  expect_equal(c(unique(table$n_virtual), unique(table$n_real)), c(12, 20))
  of <- function(arm, column) pick(table, table$arm == arm)[[column]]
  expect_equal(of("one", "processor_s"), rep(0.05, 8))
  expect_equal(of("one", "processor_percent"), 5 / of("one", "median_real_s"))
  expect_equal(of("one", "difference_percent"), rep(3 / 1.03, 8), tolerance = 0.1)
  expect_equal(of("one", "left_over_percent"), rep(0, 8))
  expect_equal(of("two", "left_over_percent"), rep(5 / 1.1, 8), tolerance = 0.1)
  expect_equal(of("three", "left_over_percent"), rep(-8 / 0.92, 8), tolerance = 0.1)
  expect_equal(unique(round(table$packets_percent, 9)), 10)
})

test_that("an interval across the edge decides nothing", {
  study <- as_study(certain_plan())
  table <- clocks_of(study, two_clocks(study, function(runs) 0.05, spread = 0.15))
  expect_setequal(table$verdict, UNDECIDED)
})

test_that("arms are pooled over cells with dice and over those without", {
  study <- as_study(certain_plan())
  paths <- two_clocks(study, function(runs) ifelse(grepl("loss2", runs$cell), 0.02, 0.1), spread = 0.02)
  found <- read_clocks(study, paths[["virtual"]], paths[["real"]])
  table <- compare_clocks(found)
  expect_equal(table$dice, grepl("loss2", table$cell))
  pooled <- pool_clocks(found, table)
  expect_equal(nrow(pooled), 6)
  expect_equal(unique(pooled$cells), 4)
  expect_equal(pooled$verdict, ifelse(pooled$dice, EXPLAINED, LEFT_OVER))
  expect_equal(pooled$difference_percent, ifelse(pooled$dice, 100 * 0.02 / 1.02, 100 * 0.1 / 1.1), tolerance = 0.15)
  expect_true(all(pooled$low < pooled$difference_percent & pooled$difference_percent < pooled$high))
  # Four cells tell more than one.
  expect_true(all(pooled$high - pooled$low < 0.8 * median(table$high - table$low)))
  expect_equal(sum(pooled[, c("explained", "left_over", "undecided")]), 24)
  lines <- clocks_lines(table, pooled)
  expect_length(lines, 7 + sum(table$verdict != EXPLAINED))
  expect_match(lines[2], "^one, 4 cells without dice: left over: real time is")
})

test_that("cells that one clock lacks are left out, and those it has are no pairs", {
  study <- as_study(certain_plan())
  paths <- two_clocks(study, function(runs) 0)
  runs <- data.table::fread(paths[["real"]])
  data.table::fwrite(pick(runs, runs$cell == "2mbit-loss0-small"), paths[["real"]])
  table <- clocks_of(study, paths)
  expect_equal(unique(table$cell), "2mbit-loss0-small")
  expect_setequal(table$verdict, EXPLAINED)
  expect_false(any(pick(table, table$arm == "one")$low == pick(table, table$arm == "one")$high))
})

test_that("the program prints and writes, and refuses what it cannot use", {
  study <- as_study(certain_plan())
  paths <- two_clocks(study, function(runs) ifelse(runs$arm == "two", 0.1, 0))
  folder <- tempfile()
  plan <- write_plan(certain_plan())
  run <- function(virtual, real) {
    run_r("run_clocks.R", c("--study", plan, "--virtual", virtual, "--real", real, "--output", folder))
  }
  done <- run(paths[["virtual"]], paths[["real"]])
  expect_equal(done$status, 0L, info = done$stderr)
  expect_match(done$stdout, "24 cells and arms: 16 explained by the processor within 1 %, 8 not, 0 undecided")
  expect_match(done$stdout, "2mbit-loss0-small, two: left over: real time is \\+9[.]")
  expect_true(all(file.exists(file.path(folder, c("clocks.csv", "pooled.csv", "clocks.pdf", "clocks.svg")))))
  expect_match(run(paths[["real"]], paths[["virtual"]])$stderr, "^error: --real: holds loads of the other clock")
  runs <- data.table::fread(paths[["real"]])
  data.table::fwrite(runs[, -"cpu_client_s"], paths[["real"]])
  data.table::fwrite(data.table::fread(paths[["virtual"]])[, -"cpu_client_s"], paths[["virtual"]])
  expect_match(run(paths[["virtual"]], paths[["real"]])$stderr, "have no column 'cpu_client_s'")
})
