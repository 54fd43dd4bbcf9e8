# Numbers of figures that the statistics keep for whoever draws them elsewhere.

#' A study with these figures, its runs with another metric, and their tables.
drawn_of <- function(figures, change = identity) {
  plan <- test_plan()
  programs <- list(c("s1", "c1"), c("s1", "c2"), c("s2", "c1"))
  plan$arms <- Map(function(arm, pair) c(arm, list(server = pair[1], client = pair[2], protocol = "h3")), plan$arms, programs)
  plan$figures <- lapply(names(figures), function(name) c(list(name = name, title = "t"), figures[[name]]))
  study <- as_study(plan)
  runs <- simulate_runs(study, 8L)
  runs$cpu_s <- runs$plt_s / 10
  runs <- as_runs(change(runs), study)
  list(study = study, runs = runs, tables = drawn_tables(study, runs, list(runs = function() runs, details = function(name) no_details())))
}
cpu <- list(column = "cpu_s", label = "Processor time", short = "CPU", unit = "s")

test_that("a study without such figures has tables without rows", {
  tables <- drawn_of(list(a = list(kind = "cdf"), b = list(kind = "bars"), c = list(kind = "heatmap")))$tables
  expect_named(tables, paste0("figure_", c("medians", "comparisons", "correlations", "transfers", "pairings")))
  expect_true(all(vapply(tables, nrow, 0L) == 0L))
})

test_that("medians of a figure's own metric are those that it draws, unfinished ones too", {
  stuck <- function(runs) spoil(runs, which(runs$arm == "two" & runs$cell == "2mbit-loss0-small"), "timeout")
  found <- drawn_of(list(a = list(kind = "curves", metric = cpu), b = list(kind = "curves")), stuck)
  table <- found$tables$figure_medians
  expect_setequal(table$figure, "a")
  expect_equal(table$median[table$arm == "two" & table$cell == "2mbit-loss0-small"], Inf)
  own <- pick(found$runs, found$runs$arm == "one" & found$runs$cell == "2mbit-loss0-small")
  expect_equal(table$median[table$arm == "one" & table$cell == "2mbit-loss0-small"], stats::median(own$cpu_s))
})

test_that("a heatmap with its own metric or pairs is compared, one of the study's is not", {
  other <- list(kind = "heatmap", pairs = list(list("three", "two")))
  figures <- list(a = list(kind = "heatmap", metric = cpu), b = list(kind = "heatmap"), c = other)
  table <- drawn_of(figures)$tables$figure_comparisons
  expect_setequal(table$figure, c("a", "c"))
  expect_setequal(paste(table$a, table$b)[table$figure == "c"], "three two")
})

test_that("a correlation has the line of least squares, and none where the column is constant", {
  cells <- list("2mbit-loss0-small")
  varied <- function(runs) cbind(runs, x = runs$repetition * ifelse(runs$arm == "two", 0, 1))
  table <- drawn_of(list(a = list(kind = "scatter", x = "x", cells = cells)), varied)$tables$figure_correlations
  expect_equal(is.na(table$slope), table$arm == "two")
  expect_equal(is.na(table$rho), table$arm == "two")
  expect_equal(unname(least_squares(c(1, 2, 4), c(3, 5, 9))), c(2, 1))
})

test_that("what the table of runs does not have is left to the figure to say", {
  nothing <- utils::modifyList(cpu, list(column = "nothing"))
  tables <- drawn_of(list(a = list(kind = "bars", metric = nothing), b = list(kind = "scatter", x = "y")))$tables
  expect_equal(nrow(tables$figure_medians) + nrow(tables$figure_correlations), 0L)
})

test_that("pairs of programs have a state each", {
  table <- drawn_of(list(a = list(kind = "matrix", cells = list("2mbit-loss0-small"))))$tables$figure_pairings
  expect_equal(paste(table$server, table$client, table$state), c("s1 c1 worked", "s1 c2 worked", "s2 c1 worked"))
})
