uses("base/errors")

#' Arguments of a program: `--name value` pairs.
#'
#' @param given character vector as from `commandArgs(TRUE)`
#' @param required,optional names without the dashes
#' @param repeatable those that may be given several times; their values are joined with commas
#' @return named list of strings; optional arguments that were not given are NULL
parse_arguments <- function(given, required, optional = character(), repeatable = character()) {
  known <- c(required, optional)
  usage <- paste0("Arguments: ", paste0("--", known, ifelse(known %in% required, "", " (optional)"), collapse = ", "))
  values <- list()
  while (length(given) > 0L) {
    name <- sub("^--", "", given[1])
    if (!startsWith(given[1], "--") || !name %in% known) fail("command line", sprintf("unknown argument '%s'", given[1]), usage)
    if (length(given) < 2L) fail("command line", sprintf("--%s has no value", name), usage)
    if (!is.null(values[[name]]) && !name %in% repeatable) fail("command line", sprintf("--%s is given twice", name), usage)
    values[[name]] <- paste(c(values[[name]], given[2]), collapse = ",")
    given <- given[-(1:2)]
  }
  missing <- setdiff(required, names(values))
  if (length(missing) > 0L) fail("command line", sprintf("--%s is missing", missing[1]), usage)
  values
}

#' The parts of a comma-separated argument; `character()` for NULL.
split_list <- function(text) {
  if (is.null(text)) character() else strsplit(text, ",", fixed = TRUE)[[1]]
}

#' A number among the arguments.
#'
#' @param least,most bounds; the least itself is outside
number_argument <- function(arguments, name, default, least, most) {
  given <- arguments[[name]]
  if (is.null(given)) {
    return(default)
  }
  number <- suppressWarnings(as.numeric(given))
  if (is.na(number) || number <= least || number > most) {
    fail("command line", sprintf("--%s is '%s'", name, given), sprintf("Give a number above %g, at most %g", least, most))
  }
  number
}

#' Run a program's body; a user error becomes one line on standard error and exit status 1.
run_program <- function(body) {
  # Characters of figures mean the same whatever the caller's locale.
  Sys.setlocale("LC_CTYPE", "C.UTF-8")
  tryCatch(
    body(commandArgs(TRUE)),
    user_error = function(problem) {
      message("error: ", conditionMessage(problem))
      quit(save = "no", status = 1L)
    }
  )
  invisible()
}
