# The tables of single runs (docs/formats.md, section 6), which lie beside the table of runs: what `frames`, `handshake`, `series`, …
# hold of the cells of a figure.

DETAIL_TEXT <- c("study", "cell", "arm", "direction", "event", "label", "path", "protocol", "source")

#' Read one of the tables beside the tables of runs.
#'
#' @param paths CSV files of runs: `CELL.csv` or `STUDY.csv`, beside which the folder without `.csv` holds the blocks
#' @param name of the table: `objects`, `series`, `transport`, `window`, `frames` or `handshake`
#' @return data.table; without rows where there are no such tables, as with somebody else's table of runs
read_details <- function(paths, name, study) {
  folders <- sub("[.]csv$", "", paths)
  found <- unlist(lapply(folders[dir.exists(folders)], function(folder) {
    list.files(folder, pattern = paste0("^", name, "[.]csv$"), recursive = TRUE, full.names = TRUE)
  }))
  parts <- lapply(sort(unique(as.character(found))), function(path) {
    header <- names(data.table::fread(path, nrows = 0L))
    missing <- setdiff(DETAIL_KEYS, header)
    if (length(missing) > 0L) fail(path, sprintf("has no column '%s'", missing[1]), "Make it anew from the run folders")
    data.table::fread(path, na.strings = "", colClasses = list(character = intersect(DETAIL_TEXT, header)))
  })
  table <- data.table::rbindlist(c(list(no_details()), parts), use.names = TRUE, fill = TRUE)
  pick(table, table$study == study$study)
}

DETAIL_KEYS <- c("study", "cell", "arm", "block", "repetition")

no_details <- function() {
  data.table::data.table(study = character(), cell = character(), arm = character(), block = integer(), repetition = integer())
}

#' The rows of a figure: of its cells and arms, of loads that ended well.
#'
#' @param first keep only the first repetition of each cell and arm that is there
#' @return the rows with `panel_cell` (in words) and `arm` as a factor in the figure's order
details_of_figure <- function(figure, study, data, name, arms, first = TRUE) {
  cells <- select_cells(study, figure$cells, figure_place(figure))$cell
  rows <- data$details(name)
  rows <- pick(rows, rows$cell %in% cells & rows$arm %in% arms)
  runs <- data$runs()
  good <- pick(runs, runs$status == "ok")
  rows <- pick(rows, load_key(rows) %in% load_key(good))
  if (first && nrow(rows) > 0L) {
    earliest <- stats::ave(as.numeric(rows$repetition), rows$cell, rows$arm, FUN = min)
    rows <- pick(rows, rows$repetition == earliest)
  }
  rows$cell <- factor(rows$cell, levels = cells)
  rows$arm <- factor(rows$arm, levels = arms)
  rows
}

load_key <- function(rows) paste(rows$cell, rows$arm, rows$repetition, sep = "\t")

#' A figure for which there is no detail, with the reason.
no_detail_figure <- function(figure, study, data, arms) {
  cells <- select_cells(study, figure$cells, figure_place(figure))$cell
  absent <- absent_text(data$runs(), study, cells, arms)
  text <- if (nzchar(absent)) absent else "The tables of runs lie without the tables of single loads that this figure shows."
  sized(empty_figure(text), height = 30)
}

#' Cells in words: the factors that differ among those shown; one cell gives "".
shown_cells <- function(study, cells) {
  cells <- as.character(cells)
  design <- pick(study$design, match(unique(cells), study$design$cell))
  varying <- Filter(function(name) length(unique(design[[name]])) > 1L, factor_names(study))
  if (length(varying) == 0L) {
    return(rep("", length(cells)))
  }
  unname(cell_title_long(study, cells, varying))
}

#' What is missing of a figure of details, and which load is shown.
detail_key <- function(figure, study, data, arms, rows) {
  cells <- select_cells(study, figure$cells, figure_place(figure))$cell
  c(
    if (length(unique(rows$repetition)) == 1L) sprintf("Repetition %s of each arm.", rows$repetition[1]),
    absent_text(data$runs(), study, cells, arms)
  )
}

#' Labels of arms in the order of their factor, for panels.
arm_panels <- function(study, arms) {
  labels <- arm_label(study, levels(droplevels(arms)))
  factor(arm_label(study, as.character(arms)), levels = unique(labels))
}

#' One row per group: what `make` says of the rows of each combination of `by`, in the order of their first rows.
summarise_rows <- function(rows, by, make) {
  key <- row_key(rows, by)
  groups <- split(seq_len(nrow(rows)), factor(key, levels = unique(key)))
  data.table::rbindlist(lapply(groups, function(numbers) {
    own <- pick(rows, numbers)
    cbind(own[1L, by, with = FALSE], data.table::as.data.table(make(own)))
  }))
}
