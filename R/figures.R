# Figures as the study file defines them: which kind draws what, and how a figure becomes files.

FIGURE_KINDS <- c("cdf", "heatmap", "tree", "calibration", "failures", "drift")

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
#' @param data list(runs, comparisons, winners, calibration); functions without arguments, so that
#'   only what a figure needs is computed
#' @return list(plot, width, height), millimetres
draw_figure <- function(figure, study, data) {
  switch(figure$kind,
    cdf = draw_cdf(figure, study, data$runs()),
    heatmap = draw_heatmap(figure, study, data$comparisons()),
    tree = draw_tree(figure, study, data$winners()),
    calibration = draw_calibration(figure, study, data$calibration()),
    failures = draw_failures(figure, study, data$runs()),
    drift = draw_drift(figure, study, data$runs()),
    fail(figure_place(figure), sprintf("no kind of figure is called '%s'", figure$kind), paste("Known:", phrase(FIGURE_KINDS)))
  )
}

#' Write a figure as SVG and as PDF.
#'
#' The PDF is made from the SVG, for R's own PDF writers either leave fonts out or put the time of day in.
#' The time in the PDF is SOURCE_DATE_EPOCH, or 1970 where that is not set: equal data give equal bytes.
#'
#' @param drawn list(plot, width, height)
#' @param path of the PDF; the SVG is written next to it
save_figure <- function(drawn, path) {
  dir.create(dirname(path), recursive = TRUE, showWarnings = FALSE)
  picture <- sub("[.]pdf$", ".svg", path)
  svglite::svglite(picture, width = drawn$width / 25.4, height = drawn$height / 25.4, bg = "white")
  tryCatch(print(drawn$plot), finally = grDevices::dev.off())
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
    comparisons = table("comparisons", function() compare_pairs(index(), study, intervals = FALSE)),
    winners = table("winners", function() winner_table(index(), study)),
    calibration = once(function() read_calibration(arguments$calibration))
  )
}
