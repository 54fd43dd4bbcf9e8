# Figures by name: what a study defines is drawn by the file of its kind.

uses(
  "base/cli", "base/errors", "read/calibration", "read/details", "read/runs", "read/statistics",
  "read/clocks", "read/processor", "figures/definition", "figures/processor", "figures/theme"
)

#' The kinds of figures: R/figures/kinds/KIND.R defines `draw_KIND(figure, study, data)`.
figure_kinds <- function() sub("[.]R$", "", list.files(file.path(ANALYSIS, "figures", "kinds"), pattern = "[.]R$"))

#' Draw a figure. Only the file of its kind is loaded: what other kinds use does not decide how it looks.
#'
#' @param data as from `figure_data`
#' @return list(plot, width, height), millimetres; a kind that marks costly cells and arms itself adds marks = TRUE
draw_figure <- function(figure, study, data) {
  known <- figure_kinds()
  if (!figure$kind %in% known) {
    fail(figure_place(figure), sprintf("no kind of figure is called '%s'", figure$kind), paste("Known:", phrase(known, 30L)))
  }
  uses(file.path("figures", "kinds", figure$kind))
  drawn <- get(paste0("draw_", figure$kind))(figure, study, data)
  # A calibration is of links, not of loads.
  if (figure$kind == "calibration") drawn else say_clock(drawn, figure, study, data)
}

#' A drawn figure with the clock in its caption and what the processor would add, unless all of its loads are in real time.
say_clock <- function(drawn, figure, study, data) {
  runs <- data$runs()
  text <- clock_text(sum(is_virtual(runs)), nrow(runs))
  if (nzchar(text)) {
    cost <- processor_key(figure, study, processor_of_figure(data), isTRUE(drawn$marks))
    lines <- caption_text(c(text, cost))
    drawn$plot <- drawn$plot + ggplot2::labs(caption = paste(c(drawn$plot$labels$caption, lines), collapse = "\n"))
    drawn$height <- drawn$height + CAPTION_LINE * length(strsplit(lines, "\n", fixed = TRUE)[[1]])
  }
  drawn
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
#'
#' @param arguments list(runs, calibration, processor, statistics) as `R/run_figure.R` takes them
#' @return list of functions: `runs()`, `index()` as from `outcome_index`, `details(name)` of a table beside the runs,
#'   `calibration()`, `processor()`, and `statistics(name, make)`: that table of `--statistics`, or what `make` computes
figure_data <- function(study, arguments) {
  once <- function(make) {
    value <- NULL
    function() {
      if (is.null(value)) value <<- make()
      value
    }
  }
  runs <- once(function() read_runs(split_list(arguments$runs), study))
  list(
    runs = runs,
    index = once(function() outcome_index(runs())),
    details = function(name) read_details(split_list(arguments$runs), name, study),
    calibration = once(function() read_calibration(arguments$calibration)),
    processor = once(function() read_processor(arguments$processor, study)),
    statistics = function(name, make) if (is.null(arguments$statistics)) make() else read_statistics(arguments$statistics, name)
  )
}
