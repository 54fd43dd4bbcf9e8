# Rscript ask.R plan.json runs.csv calibration.json,… processor.csv figure
# What R draws of a figure, as a table on the standard output: of every kind the rows that become bars, points or lines.
source("R/load.R")
uses(analysis_files())
given <- commandArgs(TRUE)
study <- read_study(given[1])
data <- figure_data(study, list(runs = given[2], calibration = given[3], processor = given[4]))
figure <- find_figure(study, given[5])
runs <- data$runs()
everyone <- figure$kind %in% c("failures", "drift", "matrix")
arms <- figure_arms(figure, if (everyone) study$arm_table$arm else study$comparison$arms)
cells <- select_cells(study, figure$cells, "figure")$cell
own <- pick(runs, runs$cell %in% cells & runs$arm %in% arms)
chosen <- metric_of_figure(figure, study, runs)
details <- function(name, ...) details_of_figure(figure, study, data, name, arms, ...)
medians <- function(open) medians_of_figure(figure, chosen$study, chosen$runs, cells, arms, open)
grouped <- function(table, groups) cbind(table, groups[match(table$cell, cells), ])

compared <- function() {
  comparisons <- if (compares_itself(figure, study)) own_comparisons(figure, study, runs) else compare_pairs(data$index(), study, FALSE)
  comparisons <- mark_costly(pick(comparisons, comparisons$cell %in% cells), data)
  tiles <- heatmap_tiles(comparisons, figure$silent_percent %||% ALIKE_PERCENT, chosen$study$comparison$metric$better)
  cbind(tiles, heatmap_axes(figure, study, tiles)$positions)
}

correlated <- function() {
  found <- lapply(arms, function(arm) {
    loads <- paired_columns(chosen$runs, cells, arm, figure$x)
    said <- arm_correlation(loads, chosen$study, cells, arm, figure$x)
    fitted <- if (is.na(said$value)) c(NA, NA) else stats::coef(stats::lm(loads$y ~ loads$x))
    list(arm = arm, n = said$n, rho = said$value, low = said$interval[1], high = said$interval[2], intercept = fitted[1], slope = fitted[2])
  })
  data.table::rbindlist(found)
}

shown <- function(kind) {
  switch(kind,
    bars = grouped(medians(FALSE), data.table::as.data.table(bar_groups(figure, study, cells))),
    bytes = { rows <- details("series"); pick(rows, !is.na(rows$acknowledged_bytes)) },
    calibration = calibration_deviation(data$calibration()),
    cdf = ecdf_points(runs, cells, arms),
    consistency = consistency_table(study, runs, cells, arms),
    curves = { table <- medians(TRUE); cbind(table, panel = curve_panels(figure, chosen$study, table)) },
    drift = running_quartiles(drift_table(own)),
    failures = failure_counts(failure_table(own), own),
    frames = { rows <- named_pieces(details("frames")); only_last_cell(pick(rows, !is.na(rows$time_s))) },
    handshake = {
      flights <- packet_flights(details("handshake"), link_rtt(study))
      pick(flights, stats::ave(seq_len(nrow(flights)), flights$cell, flights$arm, FUN = seq_along) <= SHOWN_FLIGHTS)
    },
    heatmap = compared(),
    matrix = speaking_tiles(matrix_tiles(chosen$study, chosen$runs, cells, arms)),
    profile = profile_table(pick(own, own$status == "ok")),
    scatter = correlated(),
    share = { rows <- details("objects", first = FALSE); rows$panel <- "all"; protocol_shares(rows) },
    streams = number_streams(only_last_cell(named_pieces(details("frames")))),
    transfer = transfer_times(object_rows(figure, study, data, arms)),
    tree = tree_text(fit_tree(winner_table(data$index(), study), study)$nodes, study),
    window = window_points(details("window"))
  )
}

data.table::fwrite(shown(figure$kind), quote = TRUE)
