test_that("a table with the required columns only is enough", {
  study <- as_study()
  runs <- as_runs(simulate_runs(study, 2L), study)
  expect_equal(nrow(runs), 2 * 3 * 8)
  expect_true(all(is.finite(runs$value)))
  expect_equal(runs$bound, runs$value)
})

test_that("missing columns are named, all of them, with the file", {
  study <- as_study()
  runs <- simulate_runs(study, 2L)
  path <- write_runs(runs[, -c("plt_s", "loss_percent")])
  expect_error(read_runs(path, study), paste0(path, ": has no column 'plt_s' and 'loss_percent'[.]"), fixed = FALSE)
})

test_that("wrong content is refused with the place", {
  study <- as_study()
  runs <- simulate_runs(study, 2L)
  with <- function(column, row, value) {
    changed <- data.table::copy(runs)
    changed[[column]][row] <- value
    read_runs(write_runs(changed), study)
  }
  expect_error(with("cell", 1, "2mbit-loss0-smal"), "no cell '2mbit-loss0-smal'.*2mbit-loss0-small")
  expect_error(with("loss_percent", 1, 2), "column 'loss_percent' says '2' in cell '2mbit-loss0-small'")
  expect_error(with("status", 1, "fine"), "'status' holds 'fine'")
  expect_error(with("plt_s", 1, -1), "not positive")
  expect_error(with("plt_s", 1, NA), "empty or not positive")
  expect_error(with("repetition", 4, 0L), "twice.*Number the loads of an arm in a cell through in 'repetition'.*'session'")
  expect_error(read_runs(rep(write_runs(runs), 2L), study), "twice.*give each table once")
  expect_error(read_runs(tempfile(), study), "no such file")
  other <- data.table::copy(runs)
  other$study <- "another"
  expect_error(read_runs(write_runs(other), study), "no row of the study 'made-up'")
})

test_that("quotes in a text are as they were written", {
  study <- as_study()
  runs <- simulate_runs(study, 2L)
  runs$status[1] <- "failed"
  runs$reason <- ""
  runs$reason[1] <- 'the client said "no"'
  read <- read_runs(write_runs(runs), study)
  expect_equal(read$reason[read$status == "failed"], 'the client said "no"')
})

test_that("a load without the metric is invalid where extraction says why", {
  study <- as_study()
  runs <- simulate_runs(study, 2L)
  runs$extract_note <- NA_character_
  runs$extract_note[1] <- "client.pcapng: holds too little"
  runs$plt_s[1] <- NA
  found <- as_runs(runs, study)
  expect_equal(found$reason[which(is.na(found$plt_s) & found$status == "invalid")], "no plt_s: client.pcapng: holds too little")
  expect_equal(sum(found$status == "invalid"), sum(runs$status == "invalid") + 1L)
  runs$extract_note <- NA_character_
  expect_error(as_runs(runs, study), "empty or not positive")
  runs$extract_note <- "lost"
  runs$plt_s <- NA_real_
  expect_error(as_runs(runs, study), "empty or not positive")
})

test_that("an arm that the study does not know is left out with a remark", {
  study <- as_study()
  runs <- simulate_runs(study, 2L)
  runs$arm[runs$arm == "three"] <- "stranger"
  expect_message(found <- as_runs(runs, study), "left out: stranger")
  expect_setequal(found$arm, c("one", "two"))
})

test_that("several tables join, and no table means no runs", {
  study <- as_study()
  runs <- simulate_runs(study, 2L)
  half <- seq_len(nrow(runs)) <= 24
  expect_equal(nrow(read_runs(c(write_runs(pick(runs, half)), write_runs(pick(runs, !half))), study)), 48)
  expect_equal(nrow(read_runs(character(), study)), 0)
})

test_that("a column called like a variable of the code does no harm", {
  study <- as_study()
  runs <- simulate_runs(study, 2L)
  for (name in c("known", "rows", "study_", "a", "here", "table")) runs[[name]] <- "x"
  expect_equal(nrow(as_runs(runs, study)), 48)
})

test_that("selections take values and level names, and keep the order named", {
  study <- as_study()
  expect_equal(nrow(select_cells(study, NULL)), 8)
  cells <- select_cells(study, list(bandwidth_mbit = list(50, 2), loss_percent = "loss0", object_size = "small"))$cell
  expect_equal(cells, c("50mbit-loss0-small", "2mbit-loss0-small"))
  expect_equal(select_cells(study, list("2mbit-loss2-large"))$cell, "2mbit-loss2-large")
  expect_equal(counterpart_cells(study, cells, list(loss_percent = 2)), c("50mbit-loss2-small", "2mbit-loss2-small"))
  expect_error(select_cells(study, list("2mbit")), "no cell is called '2mbit'")
})

test_that("the plan is checked", {
  plan <- test_plan()
  plan$arms <- NULL
  expect_error(as_study(plan), "has no 'arms'")
  plan <- test_plan()
  plan$comparison$design <- "independent"
  plan$comparison$rule$comparisons <- "paired"
  expect_error(as_study(plan), "not")
})

test_that("arguments are named, known and whole", {
  expect_equal(parse_arguments(c("--study", "a", "--runs", "b"), c("study", "runs")), list(study = "a", runs = "b"))
  expect_error(parse_arguments(c("--study", "a"), c("study", "runs")), "--runs is missing")
  expect_error(parse_arguments(c("--study"), "study"), "no value")
  expect_error(parse_arguments(c("--stdy", "a"), "study"), "unknown argument '--stdy'")
  expect_error(parse_arguments(c("--study", "a", "--study", "b"), "study"), "twice")
})
