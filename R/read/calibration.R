# Calibration of the links: what was asked for and what was measured (docs/formats.md, section 7).

uses("base/cli", "base/errors", "base/files")

#' Read calibration files.
#'
#' @param paths comma-separated paths of files; NULL or empty: none
#' @return data.table, one row per link and check: link, backend, backend_version, bandwidth_mbit (NA: unshaped), rtt_ms,
#'   loss_percent, burst (bytes, NA: none), more (what else the link is, in words, "": nothing), quantity, direction, asked,
#'   measured, low, high, n, tolerance, verdict (`pass`, `fail`); no rows without files
read_calibration <- function(paths) {
  files <- sort(split_list(paths))
  table <- data.table::rbindlist(c(list(empty_calibration()), lapply(files, calibration_file)), use.names = TRUE)
  data.table::setorderv(table, c("bandwidth_mbit", "rtt_ms", "loss_percent", "link"))
  table
}

empty_calibration <- function() {
  data.table::data.table(
    link = character(), backend = character(), backend_version = character(),
    bandwidth_mbit = numeric(), rtt_ms = numeric(), loss_percent = numeric(), burst = numeric(), more = character(),
    quantity = character(), direction = character(), asked = numeric(), measured = numeric(), low = numeric(),
    high = numeric(), n = integer(), tolerance = numeric(), verdict = character()
  )
}

calibration_file <- function(path) {
  data <- read_json_file(path)
  if (is.null(data$checks) || is.null(data$link)) fail(path, "has no 'link' and 'checks'", "Measure the link anew")
  number <- function(value) if (is.null(value)) NA_real_ else as.numeric(value)
  data.table::rbindlist(lapply(data$checks, function(check) {
    data.table::data.table(
      link = data$name, backend = data$backend %||% NA_character_,
      backend_version = as.character(data$backend_version %||% NA),
      bandwidth_mbit = number(shaped(data$link$bandwidth_mbit)), rtt_ms = number(data$link$rtt_ms),
      loss_percent = number(data$link$loss_percent), burst = number(data$link$burst_bytes),
      more = link_features(data$link), quantity = check$quantity,
      direction = check$direction %||% "both", asked = number(check$asked), measured = number(check$measured),
      low = number(check$low), high = number(check$high), n = as.integer(number(check$n)),
      tolerance = number(check$tolerance), verdict = check$verdict %||% NA_character_
    )
  }))
}

#' Properties that not every link has, and how they are said.
LINK_FEATURES <- c(
  bandwidth_up_mbit = "%s Mbit/s up", delay_up_ms = "%s ms of it up", aqm = "%s", ecn = "ECN", loss_burst_packets = "bursts of %s",
  loss_in_burst_percent = "%s %% lost in them", jitter_ms = "jitter of %s ms", jitter_distribution = "%s",
  reorder_percent = "%s %% reordered", path_mtu_bytes = "path MTU %s", rate_trace = "as %s", rate_trace_up = "up as %s"
)

#' What a link is besides rate, delay, loss, queue and MTU, in words; "" where that is nothing.
#'
#' @param link as docs/formats.md, section 3, has it
link_features <- function(link) {
  given <- intersect(names(LINK_FEATURES), names(link))
  words <- vapply(given, function(key) {
    format <- LINK_FEATURES[[key]]
    # Of a trace its name: what follows is the hash of what it holds.
    value <- sub("@.*", "", link[[key]])
    if (grepl("%s", format, fixed = TRUE)) sprintf(format, value) else if (isTRUE(link[[key]])) format else paste("no", format)
  }, "")
  paste(words, collapse = ", ")
}

#' NULL for a link without a rate.
shaped <- function(rate) if (identical(rate, "unshaped")) NULL else rate

#' Names of the measured quantities with their units, for readers.
QUANTITY_LABELS <- c(
  rtt_ms = "RTT (ms)", rate_mbit = "Rate (Mbit/s)", loss_percent = "Loss (%)", queue_ms = "Queue (ms)",
  reordered = "Reordered packets", burst_bytes = "Burst (bytes)", delay_ms = "One-way delay (ms)",
  jitter_ms = "Deviation of the delay (ms)", reorder_percent = "Packets without delay (%)",
  loss_after_loss_percent = "Loss after a loss (%)", aqm_delay_ms = "Queue at the first signal (ms)",
  l4s_delay_ms = "Low latency queue at the first mark (ms)", marked = "Marked packets", path_mtu_bytes = "Path MTU (bytes)",
  trace_mbit = "Rate over a trace (Mbit/s)", trace_window_frames = "Largest deviation in a window of a trace (frames)"
)

#' Those that must only stay within a bound.
BOUNDED_QUANTITIES <- c("aqm_delay_ms", "l4s_delay_ms", "marked", "trace_window_frames")

quantity_label <- function(quantity) {
  ifelse(quantity %in% names(QUANTITY_LABELS), QUANTITY_LABELS[quantity], quantity)
}

#' A link in words, from its parameters.
link_label <- function(table) {
  rate <- ifelse(is.na(table$bandwidth_mbit), "unshaped", paste(table$bandwidth_mbit, "Mbit/s"))
  burst <- ifelse(is.na(table$burst), "", sprintf(", %s MB at once", table$burst / 1e6))
  more <- ifelse(nzchar(table$more), paste0(", ", table$more), "")
  sprintf("%s, %s ms, %s %%%s%s", rate, table$rtt_ms, table$loss_percent, burst, more)
}
