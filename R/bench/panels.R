# What the pipeline costs: one panel per table of scripts/bench.py.

uses("base/tables")

#' Mean seconds per repetition of each part of the overhead.
#'
#' @param overhead data.table: one row per repetition; `network_s`, `wall_s`, then one column per part (s)
#' @return data.table: part, seconds, the largest first
overhead_parts <- function(overhead) {
  parts <- setdiff(names(overhead), c("study", "cell", "arm", "repetition", "status", "network_s", "wall_s", "load"))
  means <- vapply(parts, function(part) mean(as.numeric(overhead[[part]]), na.rm = TRUE), numeric(1))
  data.table::data.table(part = parts, seconds = means)[order(-means)]
}

#' Deviation of every check of the links from what was asked, in percent.
#'
#' @param accuracy data.table: quantity, direction, asked, measured
#' @return data.table: quantity, deviation_percent; checks that ask for 0 are left out
link_deviation <- function(accuracy) {
  relative <- pick(accuracy, accuracy$asked > 0)
  relative$deviation_percent <- 100 * (relative$measured / relative$asked - 1)
  relative
}

plot_overhead <- function(overhead) {
  parts <- overhead_parts(overhead)
  parts$part <- factor(gsub("_", " ", parts$part), rev(gsub("_", " ", parts$part)))
  ggplot2::ggplot(parts, ggplot2::aes(.data$seconds * 1000, .data$part)) +
    ggplot2::geom_col(fill = "grey40", width = 0.7) +
    ggplot2::labs(x = "Mean per load (ms)", y = NULL, subtitle = "Overhead of a repetition")
}

plot_network_share <- function(shares) {
  ggplot2::ggplot(shares, ggplot2::aes(.data$mean_load_s, 100 * .data$network_share)) +
    ggplot2::geom_hline(yintercept = 85, linetype = "dashed", colour = "grey50", linewidth = 0.3) +
    ggplot2::geom_point(size = 1) +
    ggplot2::scale_x_log10() +
    ggplot2::coord_cartesian(ylim = c(0, 100)) +
    ggplot2::labs(x = "Mean load of the block (s)", y = "Share of wall time (%)", subtitle = "Network time of a block")
}

plot_accuracy <- function(accuracy) {
  ggplot2::ggplot(link_deviation(accuracy), ggplot2::aes(.data$deviation_percent, .data$quantity)) +
    ggplot2::geom_vline(xintercept = 0, colour = "grey50", linewidth = 0.3) +
    ggplot2::geom_point(shape = 1, size = 1.2) +
    ggplot2::labs(x = "Measured against asked (%)", y = NULL, subtitle = "Accuracy of the links")
}

plot_emulator <- function(emulator) {
  ggplot2::ggplot(emulator, ggplot2::aes(.data$goodput_mbit, .data$cpu_s_per_s)) +
    ggplot2::geom_line(linewidth = 0.3) +
    ggplot2::geom_point(size = 1.2) +
    ggplot2::expand_limits(x = 0, y = 0) +
    ggplot2::labs(x = "Goodput (Mbit/s)", y = "CPU (s per s)", subtitle = "Link emulator")
}

plot_parallel <- function(parallel) {
  ggplot2::ggplot(parallel, ggplot2::aes(factor(.data$jobs), .data$blocks_per_minute)) +
    ggplot2::geom_col(fill = "grey60", width = 0.6) +
    ggplot2::geom_text(
      ggplot2::aes(label = sprintf("PLT × %.3f", .data$median_plt_ratio)),
      vjust = -0.4, size = 2.3
    ) +
    ggplot2::scale_y_continuous(expand = ggplot2::expansion(c(0, 0.15))) +
    ggplot2::labs(x = "Jobs side by side (-j)", y = "Blocks per minute", subtitle = "Parallel blocks")
}

plot_dag <- function(dag) {
  ggplot2::ggplot(dag, ggplot2::aes(.data$seconds, .data$what)) +
    ggplot2::geom_col(fill = "grey40", width = 0.6) +
    ggplot2::labs(x = "Time (s)", y = NULL, subtitle = "Deciding what to do")
}

plot_startup <- function(startup) {
  known <- pick(startup, !is.na(startup$seconds))
  ggplot2::ggplot(known, ggplot2::aes(.data$seconds, .data$program, shape = .data$role)) +
    ggplot2::geom_point(size = 1.4) +
    ggplot2::scale_x_log10() +
    ggplot2::scale_shape_manual(values = c(server = 16, client = 1), name = NULL) +
    ggplot2::labs(x = "From start to ready (s)", y = NULL, subtitle = "Start of each program")
}

#' Shares of a reference goodput, in long form.
#'
#' @param table data.table: arm, and columns `<way>_share`
#' @return data.table: arm, way, share; without those that are not known
goodput_shares <- function(table) {
  ways <- sub("_share$", "", grep("_share$", names(table), value = TRUE))
  long <- data.table::rbindlist(lapply(ways, function(way) {
    data.table::data.table(arm = table$arm, way = way, share = as.numeric(table[[paste0(way, "_share")]]))
  }))
  pick(long, !is.na(long$share))
}

plot_shares <- function(table, title, wanted) {
  shares <- goodput_shares(table)
  shares$arm <- factor(shares$arm, levels = rev(unique(table$arm)))
  ggplot2::ggplot(shares, ggplot2::aes(100 * .data$share, .data$arm, shape = .data$way)) +
    ggplot2::geom_vline(xintercept = 100 * wanted, linetype = "dashed", colour = "grey50", linewidth = 0.3) +
    ggplot2::geom_point(size = 1.4) +
    ggplot2::scale_shape_manual(values = c(16, 1, 4), name = NULL) +
    ggplot2::expand_limits(x = 0) +
    ggplot2::labs(x = "Share of the reference (%)", y = NULL, subtitle = title)
}
