# How the loads changed over the measurement.

uses(
  "base/errors", "base/tables", "read/labels", "statistics/failures", "figures/definition", "figures/panels",
  "figures/theme"
)

#' Draw the loads against the time at which they were measured.
draw_drift <- function(figure, study, data) {
  runs <- data$runs()
  arms <- figure_arms(figure, study$arm_table$arm)
  table <- drift_table(pick(runs, runs$arm %in% arms))
  timed <- attr(table, "timed")
  if (nrow(table) < 2L) {
    return(sized(empty_figure("Fewer than two loads finished, so there is no order to show."), height = 25))
  }
  in_minutes <- timed && max(table$position) < 2
  if (in_minutes) table$position <- 60 * table$position
  present <- intersect(arms, unique(table$arm))
  label <- function(arms) factor(arm_label(study, arms), levels = arm_label(study, present))
  table$panel <- label(table$arm)
  columns <- min(4L, length(present))
  running <- running_quartiles(table)
  running$panel <- label(running$arm)
  plot <- ggplot2::ggplot(table, ggplot2::aes(.data$position)) +
    ggplot2::geom_hline(yintercept = 1, linewidth = 0.3, colour = "grey40") +
    drift_points(table) +
    ggplot2::geom_ribbon(
      ggplot2::aes(ymin = .data$lower, ymax = .data$upper),
      data = running, fill = FASTER, alpha = 0.25
    ) +
    ggplot2::geom_line(ggplot2::aes(y = .data$middle, group = .data$arm), data = running, colour = FASTER, linewidth = 0.6) +
    ggplot2::facet_wrap(ggplot2::vars(.data$panel), ncol = columns, labeller = wrap_to_panels(columns)) +
    ggplot2::scale_y_log10(labels = function(x) format(x, trim = TRUE, drop0trailing = TRUE)) +
    ggplot2::labs(
      x = drift_axis(timed, in_minutes),
      y = sprintf("%s relative to the\nmean of its cell and arm", study$comparison$metric$short),
      caption = caption_text(drift_caption(runs))
    ) +
    theme_study()
  sized(plot, height = (42 + extra_heading(levels(table$panel), columns)) * ceiling(length(present) / 4) + 24)
}

drift_axis <- function(timed, in_minutes) {
  if (!timed) {
    return("Position in the order of blocks and repetitions")
  }
  sprintf("Time since the first load (%s)", if (in_minutes) "min" else "h")
}

#' Points only while they can be told apart; the band says the rest.
drift_points <- function(table, most = 3000L) {
  if (nrow(table) > most) {
    return(list())
  }
  list(ggplot2::geom_point(ggplot2::aes(y = .data$relative), size = 1.1, alpha = 0.45, stroke = 0, shape = 16))
}

#' Median and quartiles in consecutive groups of loads, of arms with more than one such group.
#'
#' @param groups number of groups per arm
#' @return data.table: arm, position, lower, middle, upper
running_quartiles <- function(table, groups = 24L) {
  parts <- data.table::rbindlist(lapply(split(table, table$arm), function(rows) {
    rows <- pick(rows, order(rows$position))
    size <- max(5, ceiling(nrow(rows) / groups))
    part <- (seq_len(nrow(rows)) - 1) %/% size
    data.table::rbindlist(lapply(split(seq_len(nrow(rows)), part), function(i) {
      quartiles <- stats::quantile(rows$relative[i], c(0.25, 0.5, 0.75), names = FALSE)
      list(
        arm = rows$arm[1], position = mean(rows$position[i]),
        lower = quartiles[1], middle = quartiles[2], upper = quartiles[3]
      )
    }))
  }))
  pick(parts, parts$arm %in% parts$arm[duplicated(parts$arm)])
}

drift_caption <- function(runs) {
  sessions <- session_table(runs)
  shared <- pick(sessions, sessions$groups > 0L)
  c(
    "Line: running median; band: quartiles.",
    if (nrow(shared) == 0L) {
      plural <- ifelse(nrow(sessions) == 1L, "session", "sessions")
      sprintf("%d %s; none shares a cell and arm with another.", nrow(sessions), plural)
    } else {
      sprintf("%d sessions; their medians lie at %s of the common ones.", nrow(sessions), phrase(sprintf("%.3f", shared$ratio)))
    }
  )
}
