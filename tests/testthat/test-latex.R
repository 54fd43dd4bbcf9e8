test_that("every special character of LaTeX is escaped", {
  expect_equal(tex("50 % of a_b & #1 {x} $y$"), "50 \\% of a\\_b \\& \\#1 \\{x\\} \\$y\\$")
  expect_equal(tex("a\\b^c~d"), "a\\textbackslash{}b\\textasciicircum{}c\\textasciitilde{}d")
  expect_equal(tex("<a|\"b'>"), "\\textless{}a\\textbar{}\\textquotedbl{}b\\textquotesingle{}\\textgreater{}")
  expect_equal(tex(c(NA, "")), c("", ""))
  expect_equal(tex("--json,,"), "-{}-json,{},")
  expect_equal(tex("Krämer × 2\u2212"), "Krämer $\\times$ 2$-$")
  expect_equal(tex("\u2603"), "[U+2603]")
})

test_that("a letter without a glyph and a byte that is no character are shown by their numbers", {
  expect_equal(tex("\u0127\u0166\u0140\u0149\u0138\u017f"), "[U+0127][U+0166][U+0140][U+0149][U+0138][U+017F]")
  expect_equal(tex("\u007f\u0085\u009f\u001b"), "[U+007F][U+0085][U+009F][U+001B]")
  expect_equal(tex("a\xffb\xc3"), "a\\textless{}ff\\textgreater{}b\\textless{}c3\\textgreater{}")
})

test_that("no character stops LaTeX", {
  folder <- tempfile()
  dir.create(folder)
  codes <- setdiff(c(1:0x2fff, 0xe000, 0xfeff, 0xfffd, 0xffff, 0x1f600, 0x10ffff), 0xd800:0xdfff)
  texts <- tex(c(vapply(codes, intToUtf8, ""), "\xff\xfe", paste(intToUtf8(1:0x17f), collapse = "")))
  wanted <- "\\\\usepackage.*\\{(fontenc|inputenc|textcomp|lmodern|microtype)\\}"
  preamble <- grep(wanted, readLines("../../paper/appendix.tex"), value = TRUE)
  expect_length(preamble, 5L)
  # Within an argument, too, where it is read before it is set.
  lines <- c("\\documentclass{article}", preamble, "\\begin{document}", sprintf("\\mbox{%s} %s\\par", texts, texts), "\\end{document}")
  writeLines(enc2utf8(lines), file.path(folder, "all.tex"), useBytes = TRUE)
  options <- c("-halt-on-error", "-interaction=batchmode", "-output-directory", folder, file.path(folder, "all.tex"))
  status <- system2("pdflatex", options, stdout = FALSE, stderr = FALSE)
  log <- readLines(file.path(folder, "all.log"), warn = FALSE, encoding = "latin1")
  expect_equal(grep("^!|Missing character", log, value = TRUE, useBytes = TRUE), character())
  expect_equal(status, 0L)
})

test_that("numbers have three digits and say what is not known", {
  expect_equal(tex_number(c(0.0123456, 1, 12.345, 1234.5, -3.456)), c("0.0123", "1.00", "12.3", "1234", "$-$3.46"))
  expect_equal(tex_number(c(NA, Inf)), c("--", "$>$ limit"))
  expect_equal(tex_interval(1, NA, NA), "1.00")
  expect_equal(tex_interval(1, 0.5, 2), "1.00 [0.500, 2.00]")
  expect_equal(tex_p(c(NA, 0.0001, 0.04)), c("--", "$<$ 0.001", "0.040"))
})

test_that("a table without rows is a word, not a broken table", {
  expect_match(tex_table(data.frame(), "A", "l"), "None")
})

test_that("the fragments of a study hold its texts escaped, and an epoch", {
  study <- as_study()
  folder <- tempfile()
  runs <- simulate_runs(study, 3L)
  runs$started <- 1.7e9 + seq_len(nrow(runs))
  runs <- as_runs(spoil(runs, 1, "failed", "100 % of $x_1$ & {more}"), study)
  write_statistics(runs, study, file.path(folder, "statistics"))
  paths <- list(statistics = file.path(folder, "statistics"), figures = folder, output = file.path(folder, "out"))
  expect_message(write_appendix(study, paths), "left out")
  read <- function(name) paste(readLines(file.path(folder, "out", name)), collapse = "\n")
  expect_match(read("failures.tex"), "100 \\% of \\$x\\_1\\$ \\& \\{more\\}", fixed = TRUE)
  expect_match(read("macros.tex"), "Nothing \\& more", fixed = TRUE)
  expect_match(read("cells.tex"), "Three (x\\_y)", fixed = TRUE)
  expect_match(read("differences.tex"), "50 \\%", fixed = TRUE)
  epoch <- Sys.getenv("SOURCE_DATE_EPOCH", format(1.7e9 + nrow(simulate_runs(study, 3L)), scientific = FALSE))
  expect_equal(read("epoch"), epoch)
})

test_that("an arm says what its logs leave, and -- for what is not known", {
  expect_equal(log_cost_text(list(qlog = 0.274, captures = 0.5)), "27 / 50")
  expect_equal(log_cost_text(list(captures = 1)), "-- / 100")
  expect_equal(log_cost_text(NULL), "--")
})
