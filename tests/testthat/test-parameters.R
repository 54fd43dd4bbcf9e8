# More than so many are told apart by a record.
MOST <- 6L

#' Parameters of functions that have too many, of all that are within an expression.
too_many <- function(expression) {
  if (!is.call(expression) && !is.expression(expression)) {
    return(NULL)
  }
  is_function <- is.call(expression) && identical(expression[[1]], as.name("function"))
  here <- if (is_function && length(expression[[2]]) > MOST) paste(names(expression[[2]]), collapse = ", ")
  c(here, unlist(lapply(as.list(expression), function(part) if (!missing(part)) too_many(part))))
}

test_that("a function with too many parameters is found", {
  expect_equal(too_many(quote(f <- function(a, b, c, d, e, f, g) NULL)), "a, b, c, d, e, f, g")
})

test_that("no function has more than six parameters", {
  files <- list.files(ANALYSIS, "[.]R$", recursive = TRUE, full.names = TRUE)
  expect_gt(length(files), 50L)
  expect_equal(unlist(lapply(files, function(file) too_many(parse(file)))), NULL)
})
