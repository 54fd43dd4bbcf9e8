# Figures as the study file defines them: which kind draws what, and how a figure becomes files.

FIGURE_KINDS <- c(
  "cdf", "heatmap", "tree", "calibration", "failures", "drift", "curves", "bars", "matrix", "bytes", "scatter", "consistency",
  "handshake", "window", "frames", "streams", "share", "transfer", "profile"
)

#' Where a figure stands in the study file, for messages.
figure_place <- function(figure) sprintf("figure '%s'", figure$name)

#' Arms of a figure, or the default.
figure_arms <- function(figure, default) {
  arms <- as.character(unlist(figure$arms))
  if (length(arms) == 0L) default else arms
}

#' Pairs of a figure, or those of the comparison.
figure_pairs <- function(figure, study) {
  given <- as.character(unlist(figure$pairs))
  if (length(given) == 0L) {
    return(study$comparison$pair_table)
  }
  pairs <- matrix(given, ncol = 2L, byrow = TRUE)
  data.table::data.table(a = pairs[, 1], b = pairs[, 2])
}

#' The definition of a figure by name.
find_figure <- function(study, name) {
  names <- vapply(study$figures, `[[`, "", "name")
  if (!name %in% names) fail("--figure", sprintf("the study has no figure '%s'", name), paste("Its figures:", phrase(names, 30L)))
  study$figures[[match(name, names)]]
}

#' Draw a figure.
#'
#' @param data list(runs, details, comparisons, winners, calibration); functions, so that only what a figure needs is computed;
#'   `details` takes the name of a table
#' @return list(plot, width, height), millimetres
draw_figure <- function(figure, study, data) {
  switch(figure$kind,
    cdf = draw_cdf(figure, study, data$runs()),
    heatmap = draw_heatmap_of(figure, study, data),
    tree = draw_tree(figure, study, data$winners()),
    calibration = draw_calibration(figure, study, data$calibration()),
    failures = draw_failures(figure, study, data$runs()),
    drift = draw_drift(figure, study, data$runs()),
    curves = draw_curves(figure, study, data$runs()),
    bars = draw_bars(figure, study, data$runs()),
    matrix = draw_matrix(figure, study, data$runs()),
    bytes = draw_bytes(figure, study, data),
    scatter = draw_scatter(figure, study, data$runs()),
    consistency = draw_consistency(figure, study, data$runs()),
    handshake = draw_handshake(figure, study, data),
    window = draw_window(figure, study, data),
    frames = draw_frames(figure, study, data),
    streams = draw_streams(figure, study, data),
    share = draw_share(figure, study, data),
    transfer = draw_transfer(figure, study, data),
    profile = draw_profile(figure, study, data$runs()),
    fail(figure_place(figure), sprintf("no kind of figure is called '%s'", figure$kind), paste("Known:", phrase(FIGURE_KINDS)))
  )
}

# From results/figures/<study>/ to results/, where the paths of runs begin.
RESULTS <- "../.."

#' Write a figure as SVG and as PDF.
#'
#' The PDF is made from the SVG, for R's own PDF writers either leave fonts out or put the time of day in.
#' The time in the PDF is SOURCE_DATE_EPOCH, or 1970 where that is not set: equal data give equal bytes.
#'
#' @param drawn list(plot, width, height, links): `links` (may be missing) are the targets, in
#'   results/, of the texts that `linked` marked
#' @param path of the PDF; the SVG is written next to it
save_figure <- function(drawn, path) {
  dir.create(dirname(path), recursive = TRUE, showWarnings = FALSE)
  picture <- sub("[.]pdf$", ".svg", path)
  # A text with a fixed width would be squeezed when its mark is taken out.
  svglite::svglite(
    picture,
    width = drawn$width / 25.4, height = drawn$height / 25.4, bg = "white", fix_text_size = is.null(drawn$links)
  )
  tryCatch(print(drawn$plot), finally = grDevices::dev.off())
  if (!is.null(drawn$links)) {
    targets <- ifelse(is.na(drawn$links), NA, file.path(RESULTS, drawn$links))
    writeLines(add_links(readLines(picture), targets), picture)
  }
  epoch <- Sys.getenv("SOURCE_DATE_EPOCH", "0")
  done <- processx::run(
    "rsvg-convert", c("--format", "pdf", "--output", path, picture),
    error_on_status = FALSE, env = c("current", SOURCE_DATE_EPOCH = epoch)
  )
  if (done$status != 0L) fail(path, paste("rsvg-convert could not write it:", trimws(done$stderr)), "Check space and permissions")
  path
}

#' Names that `--figure` asks for.
figure_names <- function(study, text) {
  if (text == "all") vapply(study$figures, `[[`, "", "name") else split_list(text)
}

#' Files that `--output` means: one PDF for one figure, or a folder.
figure_paths <- function(names, output) {
  if (!grepl("[.]pdf$", output)) {
    return(file.path(output, paste0(names, ".pdf")))
  }
  if (length(names) > 1L) fail("--output", "is one file for several figures", "Give a folder")
  output
}

#' The data of figures, read or computed when first asked for.
figure_data <- function(study, arguments) {
  once <- function(make) {
    value <- NULL
    function() {
      if (is.null(value)) value <<- make()
      value
    }
  }
  runs <- once(function() read_runs(split_list(arguments$runs), study))
  index <- once(function() outcome_index(runs()))
  table <- function(name, make) {
    once(function() if (is.null(arguments$statistics)) make() else read_statistics(arguments$statistics, name))
  }
  list(
    runs = runs,
    details = function(name) read_details(split_list(arguments$runs), name, study),
    comparisons = table("comparisons", function() compare_pairs(index(), study, intervals = FALSE)),
    winners = table("winners", function() winner_table(index(), study)),
    calibration = once(function() read_calibration(arguments$calibration))
  )
}

# Characters of Unicode's private area, which no text of ours holds.
LINK_BEGIN <- "\uE000"
LINK_END <- "\uE001"

#' Mark texts as hyperlinks, numbered in order; `add_links` turns the marks into links.
linked <- function(text) sprintf("%s%d%s%s", LINK_BEGIN, seq_along(text), LINK_END, text)

#' Turn marked texts of an SVG into hyperlinks, and take the marks out.
#'
#' @param lines of the SVG
#' @param links targets by number; NA: a text without link
add_links <- function(lines, links) {
  pattern <- sprintf("(<text [^>]*>)%s([0-9]+)%s([^<]*</text>)", LINK_BEGIN, LINK_END)
  vapply(lines, function(line) {
    parts <- regmatches(line, regexec(pattern, line))[[1]]
    if (length(parts) == 0L) {
      return(line)
    }
    text <- paste0(parts[2], parts[4])
    target <- links[as.integer(parts[3])]
    if (!is.na(target)) text <- sprintf("<a xlink:href=\"%s\">%s</a>", xml_text(target), text)
    sub(pattern, gsub("\\", "\\\\", text, fixed = TRUE), line)
  }, "", USE.NAMES = FALSE)
}

#' Text as an XML attribute.
xml_text <- function(text) {
  for (pair in list(c("&", "&amp;"), c("<", "&lt;"), c("\"", "&quot;"))) text <- gsub(pair[1], pair[2], text, fixed = TRUE)
  text
}
