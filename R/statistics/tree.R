# The decision tree of "How quick is QUIC?", figure 8: from the properties of a cell to its winner.

uses("base/tables", "read/labels", "read/states", "read/study")

#' Fit the tree to the cells' winners.
#'
#' The factors enter as ordered categories, so that a split names levels that were measured and not a
#' number in between. Cells that were not measured have no say.
#'
#' @param winners as from `winner_table`
#' @param study resolved study
#' @return list(nodes, cells, accuracy): `nodes` data.table with id (rpart's: the children of i are 2i and
#'   2i + 1), depth, leaf, variable and levels (the split that leads here, "" at the root), label (winner), n
#'   (cells), right (cells whose own winner is the label), x (position; leaves are 1, 2, …); `cells`: cell, winners,
#'   leaf, predicted; `accuracy`: share of cells whose winner is their leaf's. NULL without any measured cell.
fit_tree <- function(winners, study) {
  known <- pick(winners, winners$winners != NOT_MEASURED)
  if (nrow(known) == 0L) {
    return(NULL)
  }
  factors <- factor_names(study)
  data <- tree_data(known, study, factors)
  # Classes of equal size are resolved by the order of the labels: the most frequent first, then by name.
  fit <- if (length(unique(known$winners)) > 1L) {
    rpart::rpart(
      stats::reformulate(factors, "winners"),
      data = data, method = "class",
      control = rpart::rpart.control(minsplit = 2L, minbucket = 1L, cp = 0.02, maxdepth = 5L, xval = 0L)
    )
  }
  leaf <- if (is.null(fit)) rep(1L, nrow(known)) else as.integer(rownames(fit$frame))[fit$where]
  nodes <- tree_nodes(fit, data, leaf, study)
  predicted <- nodes$label[match(leaf, nodes$id)]
  list(
    nodes = nodes,
    cells = data.table::data.table(cell = known$cell, winners = known$winners, leaf = leaf, predicted = predicted),
    accuracy = mean(predicted == known$winners)
  )
}

tree_data <- function(known, study, factors) {
  data <- lapply(factors, function(name) droplevels(level_labels(study, name, known[[name]])))
  data <- lapply(data, function(column) factor(column, ordered = nlevels(column) > 1L))
  names(data) <- factors
  frequency <- sort(table(known$winners), decreasing = TRUE)
  data$winners <- factor(known$winners, levels = names(frequency))
  as.data.frame(data, optional = TRUE)
}

#' The nodes, described by the cells that fall into them.
tree_nodes <- function(fit, data, leaf, study) {
  ids <- if (is.null(fit)) 1L else sort(as.integer(rownames(fit$frame)))
  variables <- if (is.null(fit)) "<leaf>" else as.character(fit$frame$var)[match(ids, as.integer(rownames(fit$frame)))]
  nodes <- lapply(seq_along(ids), function(i) {
    id <- ids[i]
    rows <- which(is_below(leaf, id))
    counts <- table(data$winners[rows])
    parent <- if (id == 1L) NA_character_ else variables[match(id %/% 2L, ids)]
    list(
      id = id, depth = floor(log2(id)), leaf = variables[i] == "<leaf>",
      variable = if (is.na(parent)) "" else parent,
      levels = if (is.na(parent)) "" else join_levels(levels(droplevels(data[[parent]][rows]))),
      split = if (variables[i] == "<leaf>") "" else variables[i],
      label = names(counts)[which.max(counts)], n = length(rows), right = max(counts)
    )
  })
  nodes <- data.table::rbindlist(nodes)
  nodes$x <- tree_positions(nodes)
  nodes
}

#' Levels in few words: `10, 50 Mbit/s`.
join_levels <- function(labels) {
  units <- unique(sub("^[^ ]*", "", labels))
  if (length(units) == 1L) paste0(paste(sub(" .*", "", labels), collapse = ", "), units) else paste(labels, collapse = ", ")
}

#' Is a leaf the node `id` or below it?
is_below <- function(leaf, id) {
  vapply(leaf, function(node) {
    while (node > id) node <- node %/% 2L
    node == id
  }, TRUE)
}

#' Horizontal positions: leaves from left to right, inner nodes between their children.
tree_positions <- function(nodes) {
  x <- stats::setNames(rep(NA_real_, nrow(nodes)), nodes$id)
  place <- function(id, start) {
    if (nodes$leaf[nodes$id == id]) {
      x[[as.character(id)]] <<- start
      return(start + 1)
    }
    end <- place(2 * id + 1, place(2 * id, start))
    x[[as.character(id)]] <<- (x[[as.character(2 * id)]] + x[[as.character(2 * id + 1)]]) / 2
    end
  }
  place(1, 1)
  unname(x)
}
