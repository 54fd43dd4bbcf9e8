# Figures about the quality of the data: links, failures, drift.

#' Draw what calibration measured against what was asked for.
draw_calibration <- function(figure, study, calibration) {
  if (nrow(calibration) == 0L) {
    return(sized(empty_figure("No link was calibrated."), height = 30))
  }
  table <- calibration_deviation(calibration)
  table$link_text <- factor(link_label(table), levels = rev(unique(link_label(table))))
  shapes <- c(pass = 16, fail = 4)
  plot <- ggplot2::ggplot(table, ggplot2::aes(.data$deviation, .data$link_text, colour = .data$direction, shape = .data$verdict)) +
    ggplot2::geom_vline(xintercept = 0, linewidth = 0.3, colour = "grey40") +
    ggplot2::geom_errorbarh(
      ggplot2::aes(xmin = .data$from, xmax = .data$to),
      height = 0, linewidth = 0.35, na.rm = TRUE, show.legend = FALSE, position = ggplot2::position_dodge(0.6)
    ) +
    ggplot2::geom_point(size = 1.6, position = ggplot2::position_dodge(0.6)) +
    ggplot2::geom_blank(data = calibration_frame(table)) +
    ggplot2::facet_wrap(ggplot2::vars(.data$panel), scales = "free_x", ncol = 3L, labeller = ggplot2::label_wrap_gen(24L)) +
    ggplot2::scale_colour_manual(values = c(both = "#000000", up = "#D55E00", down = "#0072B2"), name = "Direction") +
    ggplot2::scale_shape_manual(values = shapes, limits = names(shapes), name = "Verdict") +
    ggplot2::scale_x_continuous(n.breaks = 4L) +
    ggplot2::labs(x = "Measured minus asked", y = "Link: rate, RTT, loss") +
    theme_study() +
    ggplot2::theme(panel.spacing.x = grid::unit(4, "mm"))
  bands <- ceiling(length(unique(table$panel)) / 3)
  sized(plot, height = bands * (14 + 4.5 * nlevels(table$link_text)) + 26)
}

#' Invisible points that give a panel without any deviation an axis of a width that means something.
calibration_frame <- function(table) {
  widest <- tapply(pmax(abs(table$deviation), abs(table$from), abs(table$to), na.rm = TRUE), table$panel, max)
  flat <- pick(table, table$panel %in% names(widest)[widest == 0])
  rbind(transform(flat, deviation = -1), transform(flat, deviation = 1))
}

#' Deviation of the measured from the asked, in percent of the asked, or absolute where nothing was asked for.
#'
#' @return `calibration` with deviation, from, to, panel (quantity and unit)
calibration_deviation <- function(calibration) {
  table <- data.table::copy(calibration)
  relative <- table$asked != 0
  scale <- ifelse(relative, 100 / table$asked, 1)
  table$deviation <- (table$measured - table$asked) * scale
  table$from <- (table$low - table$asked) * scale
  table$to <- (table$high - table$asked) * scale
  name <- sub(" [(].*", "", quantity_label(table$quantity))
  unit <- sub("^[^(]*[(]?([^)]*)[)]?$", "\\1", quantity_label(table$quantity))
  absolute <- ifelse(nzchar(unit), sprintf("%s where none was asked (%s)", name, unit), sprintf("%s (count)", name))
  table$panel <- ifelse(relative, sprintf("%s (%% of asked)", name), absolute)
  table
}

#' Draw the share of loads that did not end well; only cells that have such.
draw_failures <- function(figure, study, runs) {
  arms <- figure_arms(figure, unique(study$arm_table$arm))
  runs <- pick(runs, runs$arm %in% arms)
  bad <- failure_table(runs)
  total <- sprintf("%s loads in %d cells", format(nrow(runs), big.mark = " "), length(unique(runs$cell)))
  if (nrow(bad) == 0L) {
    return(sized(empty_figure(sprintf("All of %s finished.", total)), height = 25))
  }
  counted <- failure_counts(bad, runs)
  cells <- intersect(study$design$cell, bad$cell)
  grid <- pick(counted, counted$cell %in% cells)
  grid$cell <- factor(grid$cell, levels = rev(cells))
  grid$arm <- factor(grid$arm, levels = intersect(arms, unique(runs$arm)))
  plot <- ggplot2::ggplot(grid, ggplot2::aes(.data$arm, .data$cell)) +
    ggplot2::geom_tile(ggplot2::aes(fill = 100 * .data$bad / .data$of), width = 0.95, height = 0.92) +
    ggplot2::geom_text(
      ggplot2::aes(label = ifelse(.data$bad > 0, .data$text, "\u00b7"), colour = .data$bad / .data$of > 0.6),
      size = 2.2, family = FONT, show.legend = FALSE
    ) +
    ggplot2::scale_colour_manual(values = c(`FALSE` = "black", `TRUE` = "white")) +
    ggplot2::scale_fill_gradient(low = "#F7F7F7", high = "#67001F", limits = c(0, 100), name = "Share of loads (%)") +
    ggplot2::scale_x_discrete(labels = function(arms) gsub(" [(]", "\n(", arm_label(study, arms)), drop = FALSE) +
    ggplot2::labs(x = NULL, y = "Cell", caption = caption_text(c(
      sprintf("%d of %s did not end well; cells without such loads are left out.", sum(bad$n), total),
      "f: failed, t: timeout, i: invalid. Empty: not measured."
    ))) +
    theme_study() +
    ggplot2::theme(panel.grid = ggplot2::element_blank(), axis.text = ggplot2::element_text(size = 6.5))
  sized(plot, height = 5 * length(cells) + 42)
}

#' Counts per cell and arm that was measured, with a text such as `2f 1t`.
failure_counts <- function(bad, runs) {
  grid <- unique(runs[, c("cell", "arm")])
  key <- outcome_key(grid$cell, grid$arm)
  count <- function(status) {
    rows <- pick(bad, bad$status == status)
    sums <- tapply(rows$n, outcome_key(rows$cell, rows$arm), sum)
    found <- as.integer(sums[key])
    ifelse(is.na(found), 0L, found)
  }
  counts <- list(f = count("failed"), t = count("timeout"), i = count("invalid"))
  words <- Map(function(n, letter) ifelse(n > 0L, paste0(n, letter), ""), counts, names(counts))
  grid$bad <- Reduce(`+`, counts)
  grid$of <- as.integer(table(outcome_key(runs$cell, runs$arm))[key])
  grid$text <- trimws(gsub(" +", " ", do.call(paste, unname(words))))
  grid
}

#' Draw the loads against the time at which they were measured.
draw_drift <- function(figure, study, runs) {
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
    ggplot2::facet_wrap(ggplot2::vars(.data$panel), ncol = min(4L, length(present))) +
    ggplot2::scale_y_log10(labels = function(x) format(x, trim = TRUE, drop0trailing = TRUE)) +
    ggplot2::labs(
      x = drift_axis(timed, in_minutes),
      y = sprintf("%s relative to the\nmean of its cell and arm", study$comparison$metric$short),
      caption = caption_text(drift_caption(runs))
    ) +
    theme_study()
  sized(plot, height = 42 * ceiling(length(present) / 4) + 24)
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
