winners_of <- function(study, choose) {
  label <- vapply(seq_len(nrow(study$design)), function(i) choose(study$design[i, ]), "")
  cbind(study$design, data.table::data.table(winners = label, n = 5L, missing = ""))
}

test_that("a tree finds the factors that decide", {
  study <- as_study()
  tree <- fit_tree(winners_of(study, function(cell) {
    if (cell$loss_percent == 2) "one" else if (cell$bandwidth_mbit == 2) "two+three" else TIE
  }), study)
  expect_equal(tree$accuracy, 1)
  expect_equal(tree$nodes$split[tree$nodes$id == 1], "loss_percent")
  leaves <- pick(tree$nodes, tree$nodes$leaf)
  expect_setequal(leaves$label, c("one", "two+three", TIE))
  expect_equal(sum(leaves$n), 8)
  expect_equal(sort(leaves$x), 1:3)
  expect_equal(tree$nodes$levels[tree$nodes$label == "one" & tree$nodes$leaf], "2 %")
})

test_that("one winner everywhere is one leaf, and nothing measured is no tree", {
  study <- as_study()
  tree <- fit_tree(winners_of(study, function(cell) "one"), study)
  expect_equal(nrow(tree$nodes), 1)
  expect_equal(tree$nodes$label, "one")
  expect_null(fit_tree(winners_of(study, function(cell) NOT_MEASURED), study))
  expect_equal(nrow(tree_table(winners_of(study, function(cell) NOT_MEASURED), study)), 0)
})

test_that("cells that were not measured have no say, and one cell is enough", {
  study <- as_study()
  first <- study$design$cell[1]
  tree <- fit_tree(winners_of(study, function(cell) if (cell$cell == first) "two" else NOT_MEASURED), study)
  expect_equal(tree$nodes$n, 1)
  expect_equal(tree$cells$cell, first)
})

test_that("the accuracy is the share of cells whose leaf says their winner", {
  study <- as_study()
  # A pattern no split can serve well: exclusive or of two factors, and one cell that differs.
  winners <- winners_of(study, function(cell) if (cell$object_size == "small") "one" else "two")
  winners$winners[1] <- "three"
  tree <- fit_tree(winners, study)
  predicted <- tree$cells$predicted
  expect_equal(tree$accuracy, mean(predicted == tree$cells$winners))
  leaves <- pick(tree$nodes, tree$nodes$leaf)
  expect_equal(sum(leaves$right) / sum(leaves$n), tree$accuracy)
})

test_that("levels are joined with their unit once", {
  expect_equal(join_levels(c("10 Mbit/s", "50 Mbit/s")), "10, 50 Mbit/s")
  expect_equal(join_levels(c("small", "large")), "small, large")
  expect_equal(join_levels("2 %"), "2 %")
})
