# Calibration of the links: what was asked for and what was measured (docs/formats.md, section 7).

#' Read the calibration files of a folder.
#'
#' @param folder path, or NULL
#' @return data.table, one row per link and check: link, backend, backend_version, bandwidth_mbit, rtt_ms,
#'   loss_percent, quantity, direction, asked, measured, low, high, n, tolerance, verdict (`pass`, `fail`); no rows without files
read_calibration <- function(folder) {
  files <- if (is.null(folder)) character() else sort(list.files(folder, pattern = "[.]json$", full.names = TRUE))
  table <- data.table::rbindlist(c(list(empty_calibration()), lapply(files, calibration_file)), use.names = TRUE)
  data.table::setorderv(table, c("bandwidth_mbit", "rtt_ms", "loss_percent", "link"))
  table
}

empty_calibration <- function() {
  data.table::data.table(
    link = character(), backend = character(), backend_version = character(),
    bandwidth_mbit = numeric(), rtt_ms = numeric(), loss_percent = numeric(),
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
      bandwidth_mbit = number(data$link$bandwidth_mbit), rtt_ms = number(data$link$rtt_ms),
      loss_percent = number(data$link$loss_percent), quantity = check$quantity,
      direction = check$direction %||% "both", asked = number(check$asked), measured = number(check$measured),
      low = number(check$low), high = number(check$high), n = as.integer(number(check$n)),
      tolerance = number(check$tolerance), verdict = check$verdict %||% NA_character_
    )
  }))
}

#' Names of the measured quantities with their units, for readers.
QUANTITY_LABELS <- c(
  rtt_ms = "RTT (ms)", rate_mbit = "Rate (Mbit/s)", loss_percent = "Loss (%)", queue_ms = "Queue (ms)",
  reordered = "Reordered packets"
)

quantity_label <- function(quantity) {
  ifelse(quantity %in% names(QUANTITY_LABELS), QUANTITY_LABELS[quantity], quantity)
}

#' A link in words, from its parameters.
link_label <- function(table) {
  sprintf("%s Mbit/s, %s ms, %s %%", table$bandwidth_mbit, table$rtt_ms, table$loss_percent)
}
