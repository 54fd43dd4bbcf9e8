# How the files of the analysis find each other: each names those it uses, in its first lines.
#
#   run_*.R       programs: one reads its arguments, calls one function and writes its files
#   base/         arguments, messages, files, rows of tables
#   read/         plans, tables of runs and of single loads, calibrations; names for readers
#   statistics/   intervals, tests, the decision rule, claims; no plotting
#   figures/      what figures have in common; kinds/ has one file per kind of figure
#   appendix/     fragments and tables in LaTeX
#   compare/      two measurements of the same thing
#   bench/        what the pipeline costs, and how often its statistics err
#
# scripts/howquick/workflow/analysis_code.py reads the same lines, so that a rule depends on what its program loads. That is
# why they are plain: `uses(` at the start of a line, and texts.

# Threads would make the order of floating-point sums, and with it the last digit, a matter of chance.
data.table::setDTthreads(1L)

ANALYSIS <- normalizePath(dirname(sys.frame(1L)$ofile))
PROJECT_ROOT <- dirname(ANALYSIS)

# Paths of the files that are loaded, or about to be: two files may use each other.
loaded <- new.env()

#' Load files of the analysis, each once, into the global environment.
#'
#' @param ... paths below `R/`, without `.R`
uses <- function(...) {
  for (path in c(...)) {
    if (!exists(path, envir = loaded, inherits = FALSE)) {
      assign(path, TRUE, envir = loaded)
      sys.source(file.path(ANALYSIS, paste0(path, ".R")), envir = globalenv())
    }
  }
}

#' Every file of the analysis but the programs and this one, as `uses` names them.
analysis_files <- function() {
  found <- sort(sub("[.]R$", "", list.files(ANALYSIS, pattern = "[.]R$", recursive = TRUE)))
  found[dirname(found) != "."]
}
