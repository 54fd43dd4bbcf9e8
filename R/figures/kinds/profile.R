# Where the processor time of both ends goes, by what the code is for.

uses(
  "base/tables", "read/labels", "read/selection", "figures/absent", "figures/definition", "figures/panels",
  "figures/theme"
)

PROFILE_PARTS <- c(
  kernel = "kernel: packet input and output", io = "calls of the kernel", crypto = "cryptography", memory = "copying and memory",
  connection = "connection management", unknown = "not known by name", none = "not sampled"
)
PROFILE_FILLS <- c(
  kernel = "#1B1B1B", io = "#4D6A88", crypto = "#D55E00", memory = "#56B4E9", connection = "#F0E442", unknown = "#DDDDDD",
  none = "#FFFFFF"
)

#' Draw what server and client spend their processor time on, as shares, with the seconds per gigabyte beside them.
#'
#' @param figure list(cells, arms) as in the study file
draw_profile <- function(figure, study, data) {
  runs <- data$runs()
  cells <- select_cells(study, figure$cells, figure_place(figure))$cell
  arms <- figure_arms(figure, study$comparison$arms)
  table <- profile_table(pick(runs, runs$cell %in% cells & runs$arm %in% arms & runs$status == "ok"))
  if (nrow(table) == 0L) {
    return(sized(empty_figure(absent_text(runs, study, cells, arms)), height = 30))
  }
  table$arm <- factor(table$arm, levels = rev(arms))
  table$part <- factor(table$part, levels = rev(names(PROFILE_PARTS)))
  table$end <- factor(table$end, levels = c("server", "client"), labels = c("Server", "Client"))
  titles <- panel_titles(study, cells, varying_factors(study, cells))
  table$panel <- factor(titles[match(table$cell, cells)], levels = unique(titles))
  several <- nlevels(table$panel) > 1L
  plot <- ggplot2::ggplot(table, ggplot2::aes(.data$share, .data$arm)) +
    ggplot2::geom_col(ggplot2::aes(fill = .data$part), width = 0.7, colour = "grey25", linewidth = 0.2) +
    ggplot2::geom_text(
      ggplot2::aes(x = 100, label = paste(format_signif(.data$total), "s")),
      data = unique(table[, c("arm", "end", "panel", "total")]), hjust = -0.15, size = 2.1, family = FONT
    ) +
    ggplot2::facet_grid(
      if (several) ggplot2::vars(.data$panel) else NULL, ggplot2::vars(.data$end),
      labeller = ggplot2::label_wrap_gen(40)
    ) +
    ggplot2::scale_x_continuous(breaks = seq(0, 100, 25), expand = ggplot2::expansion(c(0, 0.16))) +
    ggplot2::scale_y_discrete(labels = function(arms) arm_label(study, arms)) +
    ggplot2::scale_fill_manual(values = PROFILE_FILLS, labels = PROFILE_PARTS, breaks = names(PROFILE_PARTS), name = NULL) +
    ggplot2::guides(fill = ggplot2::guide_legend(nrow = 2L)) +
    ggplot2::labs(x = "Share of processor time (%)", y = NULL, caption = caption_text(profile_key(table, runs))) +
    theme_study()
  sized(plot, height = nlevels(table$panel) * (6 * length(unique(table$arm)) + 12) + 40)
}

#' Shares of each part of each end's processor time.
#'
#' @param runs finished runs
#' @return data.table: cell, arm, end (`server`, `client`), part (of PROFILE_PARTS), share in percent of total (seconds per
#'   gigabyte, median of the runs)
profile_table <- function(runs) {
  groups <- unique(runs[, c("cell", "arm")])
  rows <- lapply(seq_len(nrow(groups)), function(i) {
    rows <- pick(runs, runs$cell == groups$cell[i] & runs$arm == groups$arm[i])
    data.table::rbindlist(lapply(c("server", "client"), function(end) cbind(groups[i, ], end = end, profile_parts(rows, end))))
  })
  table <- data.table::rbindlist(rows)
  pick(table, table$share > 0)
}

#' Median of a column; NA where it is missing or empty.
median_of_column <- function(rows, column) {
  values <- if (column %in% names(rows)) as.numeric(rows[[column]]) else NA_real_
  stats::median(values, na.rm = TRUE)
}

profile_parts <- function(rows, end) {
  total <- median_of_column(rows, sprintf("cpu_%s_s_per_gb", end))
  if (is.na(total)) {
    return(data.table::data.table(part = character(), share = numeric(), total = numeric()))
  }
  parts <- setdiff(names(PROFILE_PARTS), "none")
  shares <- vapply(parts, function(part) median_of_column(rows, sprintf("profile_%s_%s_percent", end, part)), 0)
  if (all(is.na(shares))) {
    return(data.table::data.table(part = "none", share = 100, total = total))
  }
  data.table::data.table(part = parts, share = ifelse(is.na(shares), 0, shares), total = total)
}

profile_key <- function(table, runs) {
  c(
    "Right of each bar: processor seconds per gigabyte, median of the measured transfers.",
    "Shares: samples of a pilot transfer's user code; the rest of its time the kernel spent.",
    if (any(table$part == "none")) {
      "Not sampled: perf is not installed or may not sample here, or the transfer was too short; meta.json says which (bulk.profile)."
    }
  )
}
