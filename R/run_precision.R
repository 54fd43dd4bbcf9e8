# Rscript R/run_precision.R --study plan.json --runs a.csv[,b.csv…] [--relative 0.05] [--at-most 50] [--output FILE.json]
# From what is measured, the repetitions that each cell needs until the interval of every arm's median is within ± relative
# of it, but no more than at-most. Printed: one line per cell. FILE.json: {cell: repetitions to have in all}.
# Both numbers default to `precision` of the plan.
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1])), "load.R"))
uses("base/cli", "base/files", "read/runs", "read/study", "statistics/precision")
run_program(function(arguments) {
  arguments <- parse_arguments(arguments, c("study", "runs"), c("relative", "at-most", "output"))
  study <- read_study(arguments$study)
  precision <- asked_precision(study)
  precision$relative <- number_argument(arguments, "relative", precision$relative, 0, 1)
  precision$at_most <- number_argument(arguments, "at-most", precision$at_most, 1, MOST_REPETITIONS)
  index <- outcome_index(read_runs(split_list(arguments$runs), study))
  table <- plan_precision(index, study, precision)
  cat(precision_lines(table, study, precision), sep = "\n")
  if (!is.null(arguments$output)) write_json_file(stats::setNames(as.list(table$repetitions), table$cell), arguments$output)
})
