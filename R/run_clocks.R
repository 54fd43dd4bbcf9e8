# Rscript R/run_clocks.R --study plan.json --virtual A.csv --real B.csv --output DIR
# Is the difference between the two clocks explained by the processor? Writes DIR/clocks.csv (cells), pooled.csv (arms),
# clocks.pdf and clocks.svg, and prints the cells and arms where it is not. The plan is that of virtual time.
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1])), "load.R"))
uses("base/cli", "base/files", "read/study", "figures/save", "compare/clocks", "compare/clock_figure")
library(ggplot2)

run_program(function(arguments) {
  arguments <- parse_arguments(arguments, c("study", "virtual", "real", "output"))
  found <- read_clocks(read_study(arguments$study), arguments$virtual, arguments$real)
  table <- compare_clocks(found)
  pooled <- pool_clocks(found, table)
  write_table(table, arguments$output, "clocks")
  write_table(pooled, arguments$output, "pooled")
  save_figure(draw_clocks(table, found$study), file.path(arguments$output, "clocks.pdf"))
  cat(clocks_lines(table, pooled), sep = "\n")
})
