#' A study with a figure of each kind, and runs with another metric and the path of each run.
figured <- function(...) {
  plan <- test_plan()
  programs <- list(c("s1", "c1"), c("s1", "c2"), c("s2", "c1"))
  plan$arms <- Map(function(arm, pair) {
    c(arm, list(server = pair[1], client = pair[2], protocol = "h3", connection = "cold"))
  }, plan$arms, programs)
  plan$unsupported <- list(list(protocol = "h3", server = "s2", client = "c2", connection = "cold", why = "speaks no h3"))
  plan$figures <- list(list(name = "figure", title = "A figure", ...))
  study <- as_study(plan)
  runs <- simulate_runs(study, 6L, function(cell, arm) if (cell$loss_percent > 0) 2 else 1)
  runs$cpu_s <- runs$plt_s / 10
  runs$path <- sprintf("runs/a&b/%s/%s/%04d", runs$cell, runs$arm, runs$repetition)
  list(study = study, figure = study$figures[[1]], runs = runs)
}

draw <- function(given, runs = given$runs) {
  path <- tempfile(fileext = ".pdf")
  data <- list(runs = function() as_runs(runs, given$study))
  save_figure(draw_figure(given$figure, given$study, data), path)
  paste(readLines(sub("pdf$", "svg", path)), collapse = "\n")
}
small <- list(object_size = "small")

test_that("curves show medians of the metric asked for, one line per arm", {
  given <- figured(
    kind = "curves", x = "loss_percent", cells = small,
    metric = list(column = "cpu_s", label = "Processor time", short = "CPU", unit = "s")
  )
  expect_silent(picture <- draw(given))
  expect_match(picture, "Processor time \\(s\\)")
  expect_match(picture, "Bandwidth 2 Mbit/s")
  chosen <- metric_of_figure(given$figure, given$study, as_runs(given$runs, given$study))
  table <- medians_of_figure(given$figure, chosen$study, chosen$runs, given$study$design$cell, c("one", "two"))
  expect_equal(table$median[table$cell == "2mbit-loss2-small"], c(0.2, 0.2), tolerance = 0.05)
  expect_true(all(table$low <= table$median & table$median <= table$high))
})

test_that("curves refuse to mix cells, and unknown columns and factors", {
  mixed <- figured(kind = "curves", x = "loss_percent", facet = "object_size")
  expect_error(draw(mixed), "mixes cells that differ in 'bandwidth_mbit'")
  expect_error(draw(figured(kind = "curves", x = "speed")), "no factor is called 'speed'")
  metric <- list(column = "nothing", label = "x", short = "x", unit = "")
  expect_error(draw(figured(kind = "bars", metric = metric)), "no column 'nothing'")
})

test_that("bars draw every arm of every cell, and say what is missing", {
  given <- figured(kind = "bars", cells = small)
  expect_silent(picture <- draw(given))
  expect_match(picture, "Three \\(x_y\\)")
  expect_match(draw(given, pick(given$runs, given$runs$arm != "two")), "Not measured: Two")
  expect_match(draw(given, pick(given$runs, given$runs$object_size == "large")), "Not measured")
})

test_that("the matrix tells numbers, failures and what is not supported, and links to the runs", {
  given <- figured(kind = "matrix", cells = list("2mbit-loss0-small"))
  runs <- spoil(given$runs, which(given$runs$arm == "two"), reason = "handshake failed")
  runs <- spoil(runs, which(runs$arm == "three" & runs$repetition == 0))
  tiles <- matrix_tiles(given$study, as_runs(runs, given$study), "2mbit-loss0-small", c("one", "two", "three"))
  expect_equal(tiles$state, c("worked", "failed", "worked", "not supported"))
  expect_match(tiles$text[3], "1 of 6 failed")
  expect_silent(picture <- draw(given, runs))
  expect_match(picture, "<a xlink:href=\"[.][.]/[.][.]/runs/a&amp;b/2mbit-loss0-small/one/0000\"><text [^>]*>[0-9.]+</text></a>")
  expect_match(picture, "s1 with c2: handshake failed")
  expect_match(picture, "speaks no h3")
  expect_false(grepl(LINK_BEGIN, picture, fixed = TRUE))
})

test_that("programs that speak no protocol of a panel are not in it", {
  tiles <- data.table::data.table(
    panel = c("h3", "h3", "h3", "h3", "h1"), server = c("a", "a", "b", "b", "b"), client = c("c", "d", "c", "d", "d"),
    state = c("worked", "not supported", "failed", "not supported", "worked")
  )
  expect_equal(paste(speaking_tiles(tiles)$server, speaking_tiles(tiles)$client), c("a c", "b c", "b d"))
})

test_that("a link's target is escaped, and a text without one stays a text", {
  line <- paste0("<text x='1'>", linked("a"), "</text>")
  expect_equal(add_links(line, "p\\q\"<"), "<a xlink:href=\"p\\q&quot;&lt;\"><text x='1'>a</text></a>")
  expect_equal(add_links(line, NA), "<text x='1'>a</text>")
  expect_equal(add_links("<text>b</text>", "x"), "<text>b</text>")
})

test_that("loads that do not finish are drawn at the upper edge, never left out", {
  given <- figured(kind = "curves", x = "loss_percent", cells = small)
  expect_false(grepl("Triangles", draw(given)))
  stuck <- spoil(given$runs, which(given$runs$arm == "two" & given$runs$loss_percent == 2), "timeout")
  picture <- draw(given, stuck)
  expect_match(picture, "did not finish within 60 s")
  expect_match(picture, "No load finished: Two in 2mbit-loss2-small")
})

test_that("a factor that the axis decides needs no panel", {
  along <- figured(kind = "curves", x = "loss_percent", cells = list("2mbit-loss0-small", "2mbit-loss2-large"))
  picture <- draw(along)
  expect_false(grepl("object size", picture, ignore.case = TRUE))
})

test_that("a column that no client of the chosen arms reports draws nothing; an unknown one is refused", {
  metric <- list(column = "speed_index_s", label = "Speed Index", short = "Speed Index", unit = "s")
  given <- figured(kind = "bars", cells = small, metric = metric)
  expect_error(draw(given), "has no column 'speed_index_s'")
  given$study$client_metrics <- list("speed_index_s")
  expect_match(draw(given), "measured")
})
