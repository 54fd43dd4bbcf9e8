# Rscript R/run_statistics.R --study plan.json --runs a.csv[,b.csv…] [--processor FILE] --output DIR
# Writes summary.csv, comparisons.csv, overall.csv, winners.csv, tree.csv, claims.csv, failures.csv, missing.csv,
# sessions.csv, checks.csv, programs.csv, and figure_*.csv with what figures show beside. Columns: the functions that make the
# tables document them.
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1])), "load.R"))
uses("base/cli", "read/details", "read/processor", "read/runs", "read/study", "statistics/tables")
run_program(function(arguments) {
  arguments <- parse_arguments(arguments, c("study", "runs", "output"), "processor")
  study <- read_study(arguments$study)
  paths <- split_list(arguments$runs)
  details <- function(name) read_details(paths, name, study)
  write_statistics(read_runs(paths, study), study, arguments$output, read_processor(arguments$processor, study), details)
})
