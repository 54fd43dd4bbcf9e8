# What is known of arms besides their names, and one look for the protocols where a panel overlays them.

uses("figures/panels", "figures/theme")

PROTOCOL_LABELS <- c(
  h1 = "HTTP/1.1", h2 = "HTTP/2", h3 = "HTTP/3", spdy = "SPDY", hq = "HTTP/0.9 over QUIC", tls = "TLS over TCP", sctp = "SCTP"
)

#' A property of arms as the study has it: `protocol`, `server`, `client`, …; empty where it has none.
arm_property <- function(study, arms, name) {
  known <- vapply(study$arms, function(arm) as.character(arm[[name]] %||% ""), "")
  known[match(as.character(arms), vapply(study$arms, `[[`, "", "name"))]
}

#' Of these arms those that are measured at this scale.
measured_arms <- function(study, arms) intersect(arms, vapply(study$arms, `[[`, "", "name"))

#' Group of arms in words: the servers of a study of servers.
arm_group <- function(study, arms) {
  groups <- study$arm_table$group[match(as.character(arms), study$arm_table$arm)]
  factor(groups, levels = unique(study$arm_table$group[study$arm_table$arm %in% arms]))
}

#' Name of a protocol for readers.
protocol_label <- function(protocols) {
  known <- PROTOCOL_LABELS[protocols]
  unname(ifelse(is.na(known), protocols, known))
}

#' Panels that overlay protocols: one per group of arms and cell.
group_panels <- function(study, rows) {
  cells <- shown_cells(study, rows$cell)
  titles <- ifelse(nzchar(cells), paste(arm_group(study, rows$arm), cells, sep = "\n"), as.character(arm_group(study, rows$arm)))
  factor(titles, levels = unique(titles[order(as.integer(rows$cell), as.integer(arm_group(study, rows$arm)))]))
}

#' What tells the lines of a panel apart: the protocol, or the arm where a panel has two of one protocol.
#'
#' @param rows with `arm` (a factor) and `panel`
#' @return list(key: factor, one per row, scales)
line_keys <- function(study, rows) {
  pairs <- unique(rows[, c("panel", "arm")])
  protocols <- arm_property(study, pairs$arm, "protocol")
  if (anyDuplicated(paste(pairs$panel, protocols))) {
    arms <- levels(droplevels(rows$arm))
    return(list(key = factor(rows$arm, levels = arms), scales = arm_scales(study, arms)[1:2]))
  }
  order <- intersect(c("h3", "h2", "h1", names(PROTOCOL_LABELS)), protocols)
  key <- factor(arm_property(study, rows$arm, "protocol"), levels = order)
  labels <- stats::setNames(protocol_label(order), order)
  # Blue and red as in the heatmaps, solid and dashed for print without colour.
  first_two <- function(own, rest) stats::setNames(c(own, rest)[seq_along(order)], order)
  list(key = key, scales = list(
    ggplot2::scale_colour_manual(values = first_two(c(FASTER, SLOWER), ARM_COLOURS), labels = labels, name = NULL),
    ggplot2::scale_linetype_manual(values = first_two(c("solid", "22"), ARM_LINES[3:10]), labels = labels, name = NULL)
  ))
}
