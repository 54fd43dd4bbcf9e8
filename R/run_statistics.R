# Rscript R/run_statistics.R --study plan.json --runs a.csv[,b.csv…] [--processor FILE] --output DIR
# Writes summary.csv, comparisons.csv, overall.csv, winners.csv, tree.csv, claims.csv, failures.csv, missing.csv,
# sessions.csv and programs.csv. Columns: the functions that make the tables document them.
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1])), "load.R"))
uses("base/cli", "read/processor", "read/runs", "read/study", "statistics/tables")
run_program(function(arguments) {
  arguments <- parse_arguments(arguments, c("study", "runs", "output"), "processor")
  study <- read_study(arguments$study)
  runs <- read_runs(split_list(arguments$runs), study)
  write_statistics(runs, study, arguments$output, read_processor(arguments$processor, study))
})
