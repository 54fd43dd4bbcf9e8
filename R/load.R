#' Load the analysis.
#'
#' The programs `run_*.R` and the tests source this file and call `load_analysis()`. Every other file
#' of the folder defines functions only, so the order does not matter.
#'
#' @param folder path of the folder `R/`
#' @param into environment that receives the functions
load_analysis <- function(folder, into = globalenv()) {
  # Threads would make the order of floating-point sums, and with it the last digit, a matter of chance.
  data.table::setDTthreads(1L)
  files <- sort(list.files(folder, pattern = "[.]R$", full.names = TRUE))
  for (file in files[!grepl("^(run_.*|load)[.]R$", basename(files))]) {
    sys.source(file, envir = into)
  }
  assign("PROJECT_ROOT", normalizePath(file.path(folder, "..")), envir = into)
  invisible(into)
}
