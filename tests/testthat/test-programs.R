rscript <- function(program, arguments) {
  processx::run("Rscript", c(file.path(PROJECT_ROOT, "R", program), arguments), error_on_status = FALSE)
}

test_that("the programs make tables and figures from files alone", {
  study <- as_study()
  plan <- write_plan(test_plan())
  runs <- write_runs(simulate_runs(study, 2L))
  folder <- tempfile()
  done <- rscript("run_statistics.R", c("--study", plan, "--runs", runs, "--output", folder))
  expect_equal(done$status, 0L, info = done$stderr)
  expect_true(all(file.exists(file.path(folder, paste0(c(STATISTICS, "comparisons"), ".csv")))))
  figure <- file.path(folder, "map.pdf")
  done <- rscript("run_figure.R", c("--study", plan, "--runs", runs, "--figure", "map", "--output", figure))
  expect_equal(done$status, 0L, info = done$stderr)
  expect_true(all(file.exists(c(figure, sub("pdf$", "svg", figure)))))
})

test_that("a problem is one line and exit status 1", {
  done <- rscript("run_statistics.R", c("--study", "no-such-file.json", "--runs", "x", "--output", tempfile()))
  expect_equal(done$status, 1L)
  expect_equal(lengths(strsplit(trimws(done$stderr), "\n")), 1L)
  expect_match(done$stderr, "error: no-such-file.json: no such file")
})
