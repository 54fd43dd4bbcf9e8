# The whole analysis twice, under circumstances that must not matter: another place, another time, another locale, other threads.

#' Statistics, figures and fragments of some runs, and the appendix typeset from them.
#'
#' @return list of checksums of all files
build_all <- function(plan, runs, circumstances) {
  folder <- tempfile()
  at <- function(...) file.path(folder, ...)
  dir.create(at("appendix"), recursive = TRUE)
  step <- function(program, arguments) {
    processx::run(program, arguments, env = c("current", circumstances), error_on_status = TRUE)
  }
  r <- function(program, ...) step("Rscript", c(file.path(PROJECT_ROOT, "R", program), "--study", plan, ...))
  r("run_statistics.R", "--runs", runs, "--output", at("statistics"))
  r("run_figure.R", "--runs", runs, "--figure", "all", "--output", at("figures"))
  r("run_appendix.R", "--runs", runs, "--statistics", at("statistics"), "--figures", at("figures"), "--output", at("appendix", "made-up"))
  typeset <- c(file.path(PROJECT_ROOT, c("scripts/typeset.sh", "paper")), at("appendix.pdf"), at("appendix", "made-up"))
  step("bash", typeset)
  r("run_compare.R", "--runs", runs, "--arms", "one,two", "--output", at("compare"))
  files <- list.files(folder, recursive = TRUE)
  stats::setNames(tools::md5sum(file.path(folder, files)), files)
}

test_that("two builds from the same runs are the same to the byte: tables, figures, appendix", {
  study <- as_study()
  plan <- write_plan(test_plan())
  runs <- simulate_runs(study, 7L, function(cell, arm) c(one = 1, two = 1.5, three = 3)[[arm]])
  runs$started <- 1.7e9 + seq_len(nrow(runs))
  runs <- write_runs(spoil(spoil(runs, 1:5, "failed"), 10:12, "timeout"))
  first <- build_all(plan, runs, c(LC_ALL = "C.UTF-8", TZ = "UTC", OMP_NUM_THREADS = "1"))
  Sys.sleep(1.1)
  second <- build_all(plan, runs, c(LC_ALL = "C", TZ = "Asia/Tokyo", OMP_NUM_THREADS = "2", R_DATATABLE_NUM_THREADS = "2"))
  expect_true(all(c("appendix.pdf", "figures/map.pdf", "figures/map.svg", "statistics/claims.csv", "compare/moved.pdf") %in% names(first)))
  expect_identical(unname(second[names(first)]), unname(first))
})
