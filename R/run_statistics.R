# Rscript R/run_statistics.R --study plan.json --runs a.csv[,b.csv…] --output DIR
# Writes summary.csv, comparisons.csv, overall.csv, winners.csv, tree.csv, claims.csv, failures.csv, missing.csv,
# sessions.csv and programs.csv. Columns: the functions that make the tables document them.
folder <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1]))
source(file.path(folder, "load.R"))
load_analysis(folder)

run_program(function(arguments) {
  arguments <- parse_arguments(arguments, c("study", "runs", "output"))
  study <- read_study(arguments$study)
  runs <- read_runs(split_list(arguments$runs), study)
  write_statistics(runs, study, arguments$output)
})
