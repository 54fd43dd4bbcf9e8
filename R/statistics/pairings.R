# Pairs of servers and clients: which worked, and why others did not.

uses("base/tables", "read/labels", "read/selection", "read/states", "statistics/resampling")

#' One tile per pair of server and client, cell and kind of arm.
#'
#' @return data.table: server, client, panel, state (`worked`, `failed`, `not supported`, `not measured`), median (of those
#'   that worked), text, reason, path (folder of a run; NA: none)
matrix_tiles <- function(study, runs, cells, arms) {
  pairs <- rbind(matrix_arms(study, arms), unsupported_pairs(study))
  grid <- data.table::rbindlist(lapply(cells, function(cell) cbind(cell = cell, pairs)))
  rows <- lapply(seq_len(nrow(grid)), function(i) {
    matrix_tile(study, pick(runs, runs$cell == grid$cell[i] & runs$arm == grid$arm[i]), grid[i, ])
  })
  tiles <- cbind(grid, data.table::rbindlist(rows))
  varying <- varying_factors(study, cells)
  panel <- if (length(varying) == 0L) tiles$kind else paste(tiles$kind, cell_title_long(study, tiles$cell, varying), sep = ": ")
  tiles$panel <- factor(panel, levels = unique(panel))
  tiles$server <- factor(tiles$server, levels = unique(tiles$server))
  tiles$client <- factor(tiles$client, levels = rev(unique(tiles$client)))
  tiles
}

#' Without the programs of a panel that support none of its pairs: they do not speak its protocol at all.
speaking_tiles <- function(tiles) {
  supported <- tiles$state != "not supported"
  among <- function(names) {
    key <- paste(tiles$panel, names)
    key %in% key[supported]
  }
  pick(tiles, among(tiles$server) & among(tiles$client))
}

#' Server, client and kind (protocol and what else tells arms of one pair apart) of arms.
matrix_arms <- function(study, arms) {
  chosen <- Filter(function(arm) arm$name %in% arms && !is.null(arm$server) && !is.null(arm$client), study$arms)
  data.table::rbindlist(c(list(no_pairs()), lapply(chosen, function(arm) {
    list(arm = arm$name, server = arm$server, client = arm$client, kind = pair_kind(arm), why = "")
  })))
}

pair_kind <- function(arm) paste(c(arm$protocol, setdiff(arm$connection, "cold")), collapse = ", ")

no_pairs <- function() {
  data.table::data.table(arm = character(), server = character(), client = character(), kind = character(), why = character())
}

#' Pairs that the programs declare to be impossible.
unsupported_pairs <- function(study) {
  data.table::rbindlist(c(list(no_pairs()), lapply(study$unsupported, function(pair) {
    list(arm = "", server = pair$server, client = pair$client, kind = pair_kind(pair), why = pair$why)
  })))
}

matrix_tile <- function(study, rows, pair) {
  excluded <- pick(study$excluded, study$excluded$cell == pair$cell & study$excluded$arm == pair$arm)
  why <- c(pair$why[nzchar(pair$why)], excluded$why)
  tile <- function(state, text, median = NA_real_, reason = "", path = NA_character_) {
    list(state = state, text = text, median = median, reason = reason, path = path)
  }
  valid <- pick(rows, !is.na(rows$value))
  if (nrow(valid) == 0L) {
    return(if (length(why) > 0L) tile("not supported", "n/s", reason = why[1]) else tile(NOT_MEASURED, ""))
  }
  failed <- valid$status != "ok"
  path <- if ("path" %in% names(valid)) as.character(valid$path[order(!failed)][1]) else NA_character_
  counted <- sprintf("%d of %d failed", sum(failed), nrow(valid))
  if (all(failed)) {
    return(tile("failed", "failed", reason = valid$reason[1], path = path))
  }
  middle <- censored_median(valid$value[!failed])
  text <- format_signif(middle)
  tile("worked", if (any(failed)) paste(text, counted, sep = "\n") else text, middle, path = path)
}
