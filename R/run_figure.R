# Rscript R/run_figure.R --study plan.json --figure NAME[,NAME…] --runs a.csv[,b.csv…] [--calibration FILE,…]
#   [--processor FILE] [--statistics DIR] --output FILE.pdf|DIR
# Writes FILE.pdf and FILE.svg, or DIR/NAME.pdf and DIR/NAME.svg for each name (`all`: every figure of the study).
# With --statistics the tables of R/run_statistics.R are taken instead of being computed again.
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1])), "load.R"))
uses("base/cli", "read/study", "figures/definition", "figures/draw", "figures/save")
library(ggplot2)

run_program(function(arguments) {
  arguments <- parse_arguments(arguments, c("study", "figure", "runs", "output"), c("calibration", "processor", "statistics"))
  study <- read_study(arguments$study)
  names <- figure_names(study, arguments$figure)
  figures <- lapply(names, find_figure, study = study)
  paths <- figure_paths(names, arguments$output)
  data <- figure_data(study, arguments)
  for (i in seq_along(figures)) save_figure(draw_figure(figures[[i]], study, data), paths[i])
})
