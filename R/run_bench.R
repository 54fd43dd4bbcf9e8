# Rscript R/run_bench.R --tables DIR --output FILE.pdf
# Draws the tables that scripts/bench.py wrote.
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1])), "load.R"))
uses("base/cli", "figures/save", "figures/theme", "bench/panels")
library(ggplot2)

run_program(function(arguments) {
  arguments <- parse_arguments(arguments, c("tables", "output"))
  read <- function(name) data.table::fread(file.path(arguments$tables, paste0(name, ".csv")))
  panels <- list(
    plot_overhead(read("overhead")), plot_network_share(read("network_share")), plot_accuracy(read("accuracy")),
    plot_emulator(read("emulator")), plot_parallel(read("parallel")), plot_dag(read("dag")),
    plot_startup(read("startup")), plot_shares(read("loopback"), "Goodput against plain loopback", 0.9),
    plot_shares(read("log_cost"), "Goodput with logs against without", 1)
  )
  plot <- patchwork::wrap_plots(lapply(panels, function(panel) panel + theme_study()), ncol = 2)
  save_figure(sized(plot, height = 290), arguments$output)
})
