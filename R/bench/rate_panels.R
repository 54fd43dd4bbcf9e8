# Figures of the error rates of the statistics.

uses("figures/theme")

RATE_LABELS <- c(
  raw = "one test, p \u2264 0.05", holm = "one test, Holm", bh = "one test, Benjamini-Hochberg", holm_any = "any test of a family, Holm",
  bh_any = "any test of a family, B.-H.", rule = "70 % / 10 % rule", median = "medians 5 % apart"
)
INTERVAL_LABELS <- c(
  median = "median", ratio_paired = "ratio of medians, paired", ratio_independent = "ratio, independent",
  ratio_of_means = "ratio of means, paired", mean_ratio = "ratio over three cells", gain_ratio = "ratio of gains",
  spread = "spread of four arms",
  shift_paired = "shift, paired", shift_independent = "shift, independent", delta = "Cliff's delta",
  correlation = "rank correlation"
)

#' Rates of false positives; the dashed line is the 5 % that were asked for.
plot_error_rates <- function(rates) {
  rates <- data.table::copy(rates)
  rates$panel <- sprintf("%s, %s, n = %d", rates$source, rates$design, rates$n)
  rates$panel <- factor(rates$panel, levels = unique(rates$panel))
  rates$what <- factor(RATE_LABELS[rates$quantity], levels = rev(RATE_LABELS))
  ggplot2::ggplot(rates, ggplot2::aes(100 * .data$rate, .data$what)) +
    ggplot2::geom_vline(xintercept = 5, linetype = "dashed", linewidth = 0.3, colour = "grey40") +
    ggplot2::geom_errorbarh(ggplot2::aes(xmin = 100 * .data$low, xmax = 100 * .data$high), height = 0.25, linewidth = 0.35) +
    ggplot2::geom_point(size = 1.5) +
    ggplot2::facet_wrap(ggplot2::vars(.data$panel), ncol = 2L, scales = "free_x") +
    ggplot2::expand_limits(x = 0) +
    ggplot2::labs(x = "False positives (%)", y = NULL, subtitle = "Arms that do not differ") +
    theme_study()
}

#' Coverage of the intervals; the dashed line is the 95 % that were asked for.
plot_coverage <- function(coverage) {
  coverage <- data.table::copy(coverage)
  coverage$interval <- factor(INTERVAL_LABELS[coverage$interval], levels = INTERVAL_LABELS)
  ggplot2::ggplot(coverage, ggplot2::aes(.data$n, 100 * .data$coverage, colour = .data$distribution)) +
    ggplot2::geom_hline(yintercept = 95, linetype = "dashed", linewidth = 0.3, colour = "grey40") +
    ggplot2::geom_errorbar(ggplot2::aes(ymin = 100 * .data$low, ymax = 100 * .data$high), width = 0.05, linewidth = 0.35) +
    ggplot2::geom_point(size = 1.5) +
    ggplot2::facet_wrap(ggplot2::vars(.data$interval), ncol = 3L) +
    ggplot2::scale_x_log10(breaks = unique(coverage$n)) +
    ggplot2::coord_cartesian(ylim = c(70, 100)) +
    ggplot2::labs(
      x = "Loads per arm", y = "Coverage (%)", colour = "Loads", subtitle = "Intervals of 95 %"
    ) +
    theme_study()
}
