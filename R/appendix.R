# The LaTeX fragments of one study. paper/study.tex holds the text; these hold the data.

STATISTICS <- c("summary", "overall", "winners", "tree", "claims", "failures", "missing", "sessions", "checks", "programs")

#' Write all fragments of a study.
#'
#' @param study resolved study
#' @param paths list(statistics, figures, calibration, manifest, runs, output); the last but output may be NULL
write_appendix <- function(study, paths) {
  data <- stats::setNames(lapply(STATISTICS, read_statistics, folder = paths$statistics), STATISTICS)
  data$calibration <- read_calibration(paths$calibration)
  manifest <- if (is.null(paths$manifest)) list() else read_json_file(paths$manifest)
  epoch <- data_epoch(data$programs)
  dir.create(file.path(paths$output, "figures"), recursive = TRUE, showWarnings = FALSE)
  drawn <- copy_figures(study, paths$figures, file.path(paths$output, "figures"))
  fragments <- list(
    macros = appendix_macros(study, data, manifest, epoch, split_list(paths$runs)),
    claims = claims_table(data$claims), numbers = numbers_table(data$claims), overall = overall_table(study, data$overall),
    figures = figure_floats(study, drawn), arms = arms_fragment(study, data$programs), differences = differences_table(study),
    links = links_table(data$calibration), cells = cells_table(study, data$summary, data$winners),
    failures = failures_fragment(study, data$failures), missing = missing_fragment(study, data$missing),
    versions = versions_table(study, data$programs, data$calibration, manifest), packages = packages_fragment(manifest),
    sessions = sessions_fragment(data$sessions), checks = checks_fragment(study, data$checks)
  )
  for (name in names(fragments)) writeLines(fragments[[name]], file.path(paths$output, paste0(name, ".tex")), useBytes = TRUE)
  writeLines(format(epoch, scientific = FALSE), file.path(paths$output, "epoch"))
  invisible(fragments)
}

#' Unix time of the document: SOURCE_DATE_EPOCH if set, otherwise that of the last load, otherwise 0.
data_epoch <- function(programs) {
  given <- suppressWarnings(as.numeric(Sys.getenv("SOURCE_DATE_EPOCH", "")))
  if (!is.na(given)) {
    return(floor(given))
  }
  last <- suppressWarnings(max(as.numeric(programs$to), na.rm = TRUE))
  if (is.finite(last)) floor(last) else 0
}

#' A day in words, in UTC and without the help of the locale.
day_text <- function(epoch) {
  if (epoch <= 0) {
    return("date not recorded")
  }
  time <- as.POSIXlt(epoch, origin = "1970-01-01", tz = "UTC")
  sprintf("%d %s %d", time$mday, month.name[time$mon + 1L], time$year + 1900L)
}

#' Copy the figures that exist; returns the names of those.
copy_figures <- function(study, from, to) {
  names <- vapply(study$figures, `[[`, "", "name")
  there <- file.exists(file.path(from, paste0(names, ".pdf")))
  if (!all(there)) remark("figures that do not exist yet are left out: %s", phrase(names[!there]))
  for (name in names[there]) file.copy(file.path(from, paste0(name, ".pdf")), to, overwrite = TRUE)
  names[there]
}

#' Facts that the text of paper/study.tex names.
appendix_macros <- function(study, data, manifest, epoch, runs) {
  comparison <- study$comparison
  verdicts <- unique(data$claims[, c("claim", "claim_verdict")])$claim_verdict
  summary <- data$summary
  loads <- sum(summary$n) + sum(summary$invalid) + sum(summary$left_out)
  measured <- length(unique(summary$cell))
  smallest <- if (any(summary$n > 0L)) min(summary$n[summary$n > 0L]) else 0L
  paper <- study$paper
  values <- c(
    StudyName = tex(study$study), StudyTitle = tex(study$title %||% study$study), StudyDate = tex(day_text(epoch)),
    StudyScale = tex(study$scale %||% "not stated"), StudySeed = tex(study$seed %||% "not stated"),
    StudyRepetitions = tex(study$repetitions %||% "not stated"), StudyTimeout = tex(study$timeout_s %||% "not stated"),
    StudyPaper = tex(sprintf("%s: %s %s, %s.", paper$authors, ended(paper$title), paper$venue, paper$year)),
    StudyFactors = factors_text(study), StudyFixed = fixed_text(study), StudyMetric = tex(tolower_first(comparison$metric$label)),
    StudyMetricShort = tex(comparison$metric$short), StudyMetricUnit = tex(comparison$metric$unit),
    StudyCells = tex(nrow(study$design)), StudyCellsMeasured = tex(measured), StudyArms = tex(length(unique(summary$arm))),
    StudyLoads = tex(format(loads, big.mark = " ", scientific = FALSE)),
    StudyUnfinished = tex(sum(summary$failed) + sum(summary$timeout)), StudyInvalid = tex(sum(summary$invalid)),
    StudyLeftOut = tex(sum(summary$left_out)),
    StudySmallestN = tex(smallest), StudyLargestN = tex(if (nrow(summary) > 0L) max(summary$n) else 0L),
    StudyAttainable = sprintf("%.1f\\,\\%%", 100 * attainable_confidence(max(smallest, 1L))),
    StudyConfidence = sprintf("%g\\,\\%%", 100 * comparison$confidence), StudyResamples = tex(comparison$resamples),
    StudyShare = sprintf("%g", comparison$rule$share), StudyMargin = sprintf("%g", comparison$rule$margin),
    StudyCompared = tex(phrase(arm_label(study, comparison$arms))),
    StudyComparisons = if (comparison$rule$comparisons == "paired") "paired" else "all",
    StudyAdjust = tex(ADJUSTMENTS[[comparison$adjust]]), StudyPrecision = sprintf("%g\\,\\%%", 100 * asked_precision(study)$relative),
    StudyAlike = sprintf("%g\\,\\%%", ALIKE_PERCENT), StudyDesign = tex(comparison$design), StudyPairs = tex(nrow(comparison$pair_table)),
    ClaimsSupported = tex(sum(verdicts == SUPPORTED)), ClaimsNotSupported = tex(sum(verdicts == NOT_SUPPORTED)),
    ClaimsUndecided = tex(sum(verdicts == UNDECIDED)), ClaimsTotal = tex(length(verdicts)),
    StudyWinners = winners_text(study, data$winners), StudyTree = tree_sentence(data$tree),
    StudyEnvironment = tex(manifest$hash %||% "not recorded"), StudyRuns = runs_text(runs),
    StudySlow = slow_text(study$slow_cells)
  )
  tex_macro(names(values), unname(values))
}

#' A title as a sentence: with a full stop unless it ends with another mark.
ended <- function(title) ifelse(grepl("[.?!]$", title), title, paste0(title, "."))

#' How many repetitions slow cells have, where the scale gives them fewer.
slow_text <- function(slow) {
  if (is.null(slow)) "" else tex(sprintf(" (%s where one of them is expected to take more than %s s)", slow$repetitions, slow$above_s))
}

factors_text <- function(study) {
  table <- study$factor_table
  parts <- vapply(factor_names(study), function(name) {
    rows <- pick(table, table$factor == name)
    sprintf("%s (%s)", tolower_first(rows$label[1]), join_levels(rows$level_label))
  }, "")
  tex(phrase(parts, 20L))
}

fixed_text <- function(study) {
  values <- vapply(study$fixed, function(value) paste(unlist(value), collapse = " to "), "")
  tex(phrase(sprintf("%s = %s", names(values), values), 20L))
}

winners_text <- function(study, winners) {
  known <- winners$winners[winners$winners != NOT_MEASURED]
  if (length(known) == 0L) {
    return("in no cell are there loads of all of them")
  }
  counts <- sort(table(known), decreasing = TRUE)
  tex(phrase(sprintf("%s (%s)", winner_label(study, names(counts)), cell_count(as.integer(counts))), 20L))
}

tree_sentence <- function(tree) {
  if (nrow(tree) == 0L) {
    return("There is no tree yet.")
  }
  sprintf("The tree gives the winners of %.0f\\,\\%% of the measured cells.", 100 * tree$accuracy[1])
}

runs_text <- function(paths) {
  if (length(paths) == 0L) {
    return("not stated")
  }
  sums <- unname(tools::md5sum(paths))
  paste(sprintf("\\texttt{%s} (MD5 \\texttt{%s})", tex(basename(paths)), sums), collapse = ", ")
}

#' One float per figure, in the order of the study.
figure_floats <- function(study, drawn) {
  floats <- lapply(study$figures, function(figure) {
    if (!figure$name %in% drawn) {
      return(NULL)
    }
    reference <- if (is.null(figure$paper)) "" else sprintf(" (%s of the paper.)", tex(figure$paper))
    caption <- sprintf("%s %s%s", tex(ended(figure$title)), tex(trimws(figure$caption %||% "")), reference)
    c(
      "\\begin{figure}[htbp]", "\\centering", sprintf("\\includegraphics{\\studyfolder/figures/%s.pdf}", figure$name),
      sprintf("\\caption{%s}", caption), sprintf("\\label{\\studyfolder:%s}", figure$name), "\\end{figure}"
    )
  })
  as.character(unlist(floats))
}
