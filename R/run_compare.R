# Rscript R/run_compare.R --runs A.csv --runs B.csv [--study plan.json] [--labels NAME,NAME] [--by COLUMN]
#   [--arms ARM,ARM] [--metric COLUMN] [--adjust holm|bh] --output DIR
# Which cells moved between two measurements? Writes DIR/moved.csv, moved.pdf and moved.svg, and prints those that moved.
# Without --by every table is a measurement; with it, the values of that column (session, machine) are, in all tables
# together. --arms compares two arms of the tables as if they were one: the same arm under two names.
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1])), "load.R"))
uses("base/cli", "base/files", "read/study", "figures/save", "compare/measurements", "compare/moved")
library(ggplot2)

run_program(function(arguments) {
  optional <- c("study", "labels", "by", "arms", "metric", "adjust")
  arguments <- parse_arguments(arguments, c("runs", "output"), optional, repeatable = "runs")
  paths <- split_list(arguments$runs)
  study <- if (is.null(arguments$study)) study_of_tables(paths) else read_study(arguments$study)
  study$comparison <- choose_comparison(study$comparison, arguments)
  by <- if (is.null(arguments$arms)) arguments$by else "arm"
  found <- read_measurements(study, paths, by, split_list(arguments$labels))
  if (!is.null(arguments$arms)) found$runs <- same_arm(found$runs, found$study, split_list(arguments$arms))
  table <- compare_measurements(found$runs, found$study)
  write_table(table, arguments$output, "moved")
  save_figure(draw_moved(table, found$study), file.path(arguments$output, "moved.pdf"))
  cat(moved_lines(table, found$study), sep = "\n")
})
