uses(
  "base/errors", "base/tables", "read/labels", "read/runs", "statistics/failures", "figures/definition",
  "figures/panels", "figures/theme"
)

#' Draw the share of loads that did not end well; only cells that have such.
draw_failures <- function(figure, study, data) {
  runs <- data$runs()
  arms <- figure_arms(figure, unique(study$arm_table$arm))
  runs <- pick(runs, runs$arm %in% arms)
  if (nrow(runs) == 0L) {
    return(sized(empty_figure(sprintf("No load of %s was measured.", phrase(arm_label(study, arms)))), height = 25))
  }
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
  across <- arms_across(study, levels(grid$arm))
  plot <- ggplot2::ggplot(grid, ggplot2::aes(.data$arm, .data$cell)) +
    ggplot2::geom_tile(ggplot2::aes(fill = 100 * .data$bad / .data$of), width = 0.95, height = 0.92) +
    ggplot2::geom_text(
      ggplot2::aes(label = ifelse(.data$bad > 0, .data$text, "\u00b7"), colour = .data$bad / .data$of > 0.6),
      size = 2.2, family = FONT, show.legend = FALSE
    ) +
    ggplot2::scale_colour_manual(values = c(`FALSE` = "black", `TRUE` = "white")) +
    ggplot2::scale_fill_gradient(low = "#F7F7F7", high = "#67001F", limits = c(0, 100), name = "Share of loads (%)") +
    ggplot2::labs(x = NULL, y = "Cell", caption = caption_text(c(
      sprintf("%d of %s did not end well; cells without such loads are left out.", sum(bad$n), total),
      "f: failed, t: timeout, i: invalid. Empty: not measured."
    ))) +
    theme_study() +
    ggplot2::theme(panel.grid = ggplot2::element_blank(), axis.text = ggplot2::element_text(size = 6.5)) +
    across$parts
  sized(plot, height = 5 * length(cells) + 42 + across$height)
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
