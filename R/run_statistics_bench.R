# Rscript R/run_statistics_bench.R --output DIR [--families 200] [--seed 1] [--study plan.json --runs a.csv[,b.csv…]]
#   [--plans a.json[,b.json…]]
# How often the tests and rules find a difference where there is none, over simulated families and, with --study and --runs,
# over the tables of a study with their labels shuffled; and how often the intervals hold the truth, of some numbers of loads and
# those that the plans have. Writes DIR/false_positives.csv,
# coverage.csv, statistics.pdf and statistics.svg.
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1])), "load.R"))
uses(
  "base/cli", "base/errors", "base/files", "read/runs", "read/study", "statistics/resampling", "figures/save",
  "figures/theme", "bench/coverage", "bench/error_rates", "bench/rate_panels"
)
library(ggplot2)

run_program(function(arguments) {
  arguments <- parse_arguments(arguments, "output", c("families", "seed", "study", "runs", "plans"))
  families <- number_argument(arguments, "families", 200, 0, 100000)
  seed <- number_argument(arguments, "seed", 1, -1, 2^31 - 1)
  if (is.null(arguments$study) != is.null(arguments$runs)) fail("command line", "has --study or --runs alone", "Give both or none")
  rates <- list()
  for (n in c(5L, 20L)) {
    for (design in c("paired", "independent")) {
      simulate <- function() null_family(cells = 16L, arms = 4L, n = n)
      rates[[paste(design, n)]] <- error_rates(simulate, families, "simulated", design, derive_seed(seed, design, n))
    }
  }
  if (!is.null(arguments$study)) {
    study <- read_study(arguments$study)
    family <- real_family(outcome_index(read_runs(split_list(arguments$runs), study)), study)
    if (length(family) == 0L) fail(arguments$runs, "has no cell with two repetitions of two arms", "Give a table of more loads")
    rates$real <- error_rates(function() shuffle_labels(family), families, "labels shuffled", study$comparison$design, seed)
  }
  rates <- data.table::rbindlist(rates)
  plans <- if (is.null(arguments$plans)) character() else split_list(arguments$plans)
  sizes <- sort(unique(c(SIMULATED_SIZES, unlist(lapply(plans, function(plan) repetitions_in(read_json_file(plan)))))))
  coverage <- coverage_rates(sizes, simulations = families, seed)
  write_table(rates, arguments$output, "false_positives")
  write_table(coverage, arguments$output, "coverage")
  plot <- patchwork::wrap_plots(plot_error_rates(rates), plot_coverage(coverage), ncol = 1L, heights = c(3, 2))
  save_figure(sized(plot, height = 220), file.path(arguments$output, "statistics.pdf"))
})
