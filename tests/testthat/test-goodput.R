# Quantities, bars and profiles of studies of goodput.

#' A study of goodput: one 300, two 200, three 10 Mbit/s, and loss (standing for any change) divides one by 4 and two by 2.
goodput <- function(...) {
  plan <- test_plan()
  plan$claims <- list(...)
  plan$comparison$metric <- list(column = "goodput_mbit", label = "Goodput", short = "goodput", unit = "Mbit/s", better = "higher")
  plan$comparison$design <- "independent"
  study <- as_study(plan)
  runs <- simulate_runs(study, 8L, function(cell, arm) {
    c(one = 300, two = 200, three = 10)[[arm]] / (if (cell$loss_percent == 2) c(one = 4, two = 2, three = 1)[[arm]] else 1)
  }, spread = 0.02)
  runs$goodput_mbit <- runs$plt_s
  runs$errors <- ifelse(runs$arm == "one", 7, 0)
  list(study = study, runs = runs)
}
verdicts <- function(..., change = identity) {
  given <- goodput(list(id = "c", text = "A claim", where = "x", test = list(list(...))))
  evaluate_claims(as_runs(change(given$runs), given$study), given$study)
}
clean <- list("2mbit-loss0-small")

test_that("a value is the statistic with an interval, of any metric", {
  table <- verdicts(quantity = "value", arm = list("one", "two"), cells = clean, more_than = 100)
  expect_equal(table$value, c(300, 200), tolerance = 0.05)
  expect_true(all(table$low < table$value & table$value < table$high))
  expect_equal(table$claim_verdict, rep(SUPPORTED, 2))
  errors <- list(column = "errors", label = "Errors", short = "errors", unit = "")
  table <- verdicts(quantity = "value", arm = list("one", "two"), cells = clean, more_than = 0, metric = errors)
  expect_equal(table$value, c(7, 0))
  expect_equal(table$verdict, c(SUPPORTED, NOT_SUPPORTED))
  expect_equal(table$note, c("", ""))
})

test_that("a spread is the largest over the smallest", {
  spread <- function(...) verdicts(quantity = "spread", arm = list("one", "two", "three"), cells = clean, more_than = 10, ...)
  table <- spread()
  expect_equal(nrow(table), 1)
  expect_equal(table$value, 30, tolerance = 0.1)
  expect_true(table$low < 30 && table$high > 30 && table$low > 27)
  expect_equal(table$claim_verdict, SUPPORTED)
  gone <- spread(change = function(runs) pick(runs, runs$arm != "two"))
  expect_equal(gone$verdict, UNDECIDED)
  failed <- spread(change = function(runs) {
    runs <- spoil(runs, which(runs$arm == "three"))
    runs$goodput_mbit[runs$status != "ok"] <- NA
    runs
  })
  expect_equal(failed$value, 1.5, tolerance = 0.1)
  expect_equal(failed$note, "2 of 3 arms have a median")
  expect_equal(failed$verdict, NOT_SUPPORTED)
  expect_error(verdicts(quantity = "spread", arm = "one", cells = clean, more_than = 1), "fewer than two arms")
})

test_that("gains are compared", {
  gain <- function(...) verdicts(quantity = "gain_ratio", cells = clean, against_cells = list(loss_percent = 2), ...)
  table <- gain(arm = "two", against = "one", less_than = 1)
  expect_equal(table$value, 0.5, tolerance = 0.05)
  expect_equal(table$verdict, SUPPORTED)
  expect_match(table$what, "gain in median goodput of Two divided by that of One")
  expect_equal(gain(arm = "one", against = "two", less_than = 1)$verdict, NOT_SUPPORTED)
  expect_error(verdicts(quantity = "gain_ratio", arm = "one", cells = clean, less_than = 1), "against_cells")
})

draw_kind <- function(kind, runs, given, ...) {
  path <- tempfile(fileext = ".pdf")
  figure <- list(name = "figure", kind = kind, title = "A figure", ...)
  save_figure(draw_figure(figure, given$study, list(runs = function() as_runs(runs, given$study))), path)
  paste(readLines(sub("pdf$", "svg", path)), collapse = "\n")
}

test_that("cells stand side by side as bars with their numbers", {
  given <- goodput()
  picture <- draw_kind("bars", given$runs, given, x = "loss_percent", cells = list(bandwidth_mbit = 2, object_size = "small"))
  for (text in c("Loss 0 %", "Loss 2 %", "Goodput \\(Mbit/s\\)")) expect_match(picture, text)
  number <- format_signif(censored_median(given$runs$goodput_mbit[given$runs$cell == "2mbit-loss2-small" & given$runs$arm == "three"]))
  expect_match(picture, paste0(">", number, "<"), fixed = TRUE)
  expect_error(draw_kind("bars", given$runs, given, x = "speed", facet = "loss_percent"), "no factor is called 'speed'")
})

test_that("a profile splits each end's processor time, or says that there is none", {
  given <- goodput()
  runs <- given$runs
  runs$cpu_server_s_per_gb <- 2
  runs$cpu_client_s_per_gb <- 4
  runs$profile_server_kernel_percent <- ifelse(runs$arm == "one", 75, NA)
  runs$profile_server_crypto_percent <- ifelse(runs$arm == "one", 25, NA)
  table <- profile_table(pick(runs, runs$cell == "2mbit-loss0-small"))
  one <- pick(table, table$arm == "one" & table$end == "server")
  expect_equal(one$share[match(c("kernel", "crypto"), one$part)], c(75, 25))
  expect_equal(table$total[table$arm == "two"], c(2, 4))
  expect_equal(table$part[table$arm == "two"], c("none", "none"))
  picture <- draw_kind("profile", runs, given, cells = clean)
  for (text in c("cryptography", "not sampled", "Share of processor time", ">4 s<")) expect_match(picture, text)
})
