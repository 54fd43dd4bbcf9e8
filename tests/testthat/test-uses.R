# Each file of the analysis names the files that it uses, and no others (R/load.R).

#' The names that a file defines, those that it takes from elsewhere, and the files that it says it uses.
read_code <- function(name) {
  lines <- parse(file.path(ANALYSIS, paste0(name, ".R")), keep.source = FALSE)
  is_call <- function(line, to) is.call(line) && identical(line[[1]], as.name(to))
  made <- Filter(function(line) is_call(line, "<-") && is.name(line[[2]]), lines)
  whole <- function() NULL
  body(whole) <- as.call(c(as.name("{"), as.list(lines)))
  list(
    defines = vapply(made, function(line) as.character(line[[2]]), ""), takes = codetools::findGlobals(whole),
    uses = as.character(unlist(lapply(Filter(function(line) is_call(line, "uses"), lines), function(line) as.list(line)[-1])))
  )
}

test_that("each file names the files that it uses, and no others", {
  programs <- sub("[.]R$", "", list.files(ANALYSIS, "^run_"))
  files <- c(analysis_files(), programs)
  code <- stats::setNames(lapply(files, read_code), files)
  home <- unlist(lapply(names(code), function(name) stats::setNames(rep(name, length(code[[name]]$defines)), code[[name]]$defines)))
  # Two homes for one name would make the order of loading decide.
  expect_identical(names(home)[duplicated(names(home))], character())
  for (name in files) {
    needed <- setdiff(unname(home[intersect(code[[name]]$takes, names(home))]), name)
    expect_identical(sort(code[[name]]$uses), sort(unique(needed)), info = name)
  }
})
