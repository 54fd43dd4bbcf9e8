# Rscript tests/testthat.R: all tests of the analysis; exits with 1 if one fails.
library(ggplot2)
library(testthat)
folder <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1]))
source(file.path(folder, "..", "R", "load.R"))
uses(analysis_files())

results <- as.data.frame(test_dir(
  file.path(folder, "testthat"),
  env = new.env(parent = globalenv()), reporter = "summary", stop_on_failure = FALSE, load_package = "none"
))
# A test that cannot be skipped by accident: a skip counts as a failure.
bad <- results$failed > 0 | results$error | results$skipped
cat(sprintf("%d passed, %d failed\n", sum(!bad), sum(bad)))
quit(save = "no", status = if (nrow(results) == 0L || any(bad)) 1L else 0L)
