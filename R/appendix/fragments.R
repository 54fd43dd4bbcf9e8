# The LaTeX fragments of one study. paper/study.tex holds the text; these hold the data.

uses(
  "base/cli", "base/errors", "base/files", "base/tables", "read/calibration", "read/clocks", "read/labels", "read/processor", "read/states",
  "read/statistics", "read/study", "statistics/claims", "statistics/comparisons", "statistics/enough",
  "statistics/precision", "statistics/tree", "appendix/latex", "appendix/tables"
)

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
    macros = appendix_macros(study, data, manifest, epoch, split_list(paths$runs), drawn),
    claims = claims_table(study, data$claims), numbers = numbers_table(study, data$claims), overall = overall_table(study, data$overall),
    figures = figure_floats(study, drawn), arms = arms_fragment(study, data$programs), differences = differences_fragment(study),
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
appendix_macros <- function(study, data, manifest, epoch, runs, drawn) {
  comparison <- study$comparison
  verdicts <- unique(data$claims[, c("claim", "claim_verdict")])$claim_verdict
  summary <- data$summary
  loads <- sum(summary$n) + sum(summary$invalid) + sum(summary$left_out)
  measured <- length(unique(summary$cell))
  smallest <- if (any(summary$n > 0L)) min(summary$n[summary$n > 0L]) else 0L
  values <- c(
    StudyName = tex(study$study), StudyTitle = tex(study$title %||% study$study), StudyDate = tex(day_text(epoch)),
    StudyScale = tex(study$scale %||% "not stated"), StudySeed = tex(study$seed %||% "not stated"),
    StudyRepetitions = tex(study$repetitions %||% "not stated"), StudyTimeout = tex(study$timeout_s %||% "not stated"),
    StudySubtitle = if (has_paper(study)) "A reproduction, by measurement on emulated links" else "A measurement on emulated links",
    StudyKind = if (has_paper(study)) "a reproduction" else "a measurement", StudyPaper = paper_text(study$paper),
    StudyOwner = if (has_paper(study)) "paper's" else "study's",
    StudyFactors = factors_text(study), StudyFixed = fixed_text(study), StudyMetric = tex(tolower_first(comparison$metric$label)),
    StudyMetricShort = tex(comparison$metric$short), StudyMetricUnit = tex(comparison$metric$unit),
    StudyCells = tex(nrow(study$design)), StudyCellsMeasured = tex(measured), StudyArms = tex(length(unique(summary$arm))),
    StudyLoads = tex(format(loads, big.mark = " ", scientific = FALSE)),
    StudyUnfinished = tex(sum(summary$failed) + sum(summary$timeout)), StudyInvalid = tex(sum(summary$invalid)),
    StudyLeftOut = tex(sum(summary$left_out)),
    StudySmallestN = tex(smallest), StudyLargestN = tex(if (nrow(summary) > 0L) max(summary$n) else 0L),
    StudyLoadsNeeded = tex(loads_needed(comparison$confidence)), StudySmallestSpread = tex(SMALLEST_SPREAD),
    StudyConfidence = sprintf("%g\\,\\%%", 100 * comparison$confidence), StudyResamples = tex(comparison$resamples),
    StudyShare = sprintf("%g", comparison$rule$share), StudyMargin = sprintf("%g", comparison$rule$margin),
    StudyCompared = tex(phrase(arm_label(study, comparison$arms))),
    StudyComparisons = if (comparison$rule$comparisons == "paired") "paired" else "all",
    StudyAdjust = tex(ADJUSTMENTS[[comparison$adjust]]), StudyPrecision = sprintf("%g\\,\\%%", 100 * asked_precision(study)$relative),
    StudyAlike = sprintf("%g\\,\\%%", ALIKE_PERCENT), StudyDesign = tex(comparison$design), StudyPairs = tex(nrow(comparison$pair_table)),
    ClaimsSupported = tex(sum(verdicts == SUPPORTED)), ClaimsNotSupported = tex(sum(verdicts == NOT_SUPPORTED)),
    ClaimsUndecided = tex(sum(verdicts == UNDECIDED)), ClaimsTooFew = tex(sum(verdicts == TOO_FEW)),
    ClaimsNotTested = tex(sum(verdicts == NOT_TESTED)),
    ClaimsNotApplicable = tex(sum(verdicts == NOT_APPLICABLE)), ClaimsTotal = tex(length(verdicts)),
    StudyWinners = winners_text(study, data$winners), StudyTree = tree_sentence(study, data$tree, drawn),
    StudyTreeMethod = if (shows_tree(study, data$tree, drawn)) TREE_METHOD else "",
    StudyEnvironment = tex(manifest$hash %||% "not recorded"), StudyRuns = runs_text(runs),
    StudySlow = slow_text(study), StudyUnjudged = unjudged_text(sum(data$programs$unjudged), loads),
    StudyOtherLinks = tex(other_links(study)),
    StudyClock = clock_paragraph(data)
  )
  tex_macro(names(values), unname(values))
}

#' By which clock the loads were measured, and what the processor would add where it takes no time.
clock_paragraph <- function(data) {
  clock <- clock_text(sum(data$programs$virtual), sum(data$programs$n))
  seconds <- data$summary$processor_s[!is.na(data$summary$processor_s)]
  if (!nzchar(clock) || length(seconds) == 0L) {
    return(tex(clock))
  }
  format <- paste(
    "Server and client used %s of a processor for a load, measured in real time;",
    "in the table of all cells \\dag{} marks more than %g\\,\\%% of the load."
  )
  cost <- sprintf(format, milliseconds_text(seconds), 100 * COSTLY_SHARE)
  paste(tex(clock), cost)
}

#' Does the study reproduce a paper?
has_paper <- function(study) length(study$paper) > 0L

paper_text <- function(paper) {
  if (length(paper) == 0L) {
    return("")
  }
  cited <- function(text) paste(c(sprintf("%s: %s %s", text$authors, ended(text$title), text$venue), text$year), collapse = ", ")
  also <- if (is.null(paper$also)) "" else sprintf(" Its other text: %s.", cited(paper$also))
  tex(sprintf("The paper: %s.%s", cited(paper), also))
}

#' Where a figure stands in the paper and in its other text, in parentheses; empty if in neither.
paper_reference <- function(figure) {
  places <- c(
    if (!is.null(figure$paper)) sprintf("%s of the paper", figure$paper),
    if (!is.null(figure$also)) sprintf("%s of its other text", figure$also)
  )
  if (length(places) == 0L) "" else sprintf(" (%s.)", paste(places, collapse = "; "))
}

#' A title as a sentence: with a full stop unless it ends with another mark.
ended <- function(title) ifelse(grepl("[.?!]$", title), title, paste0(title, "."))

#' How many repetitions some cells have instead: slow ones, and those in virtual time.
slow_text <- function(study) {
  slow <- function(rule) {
    if (is.null(rule)) NULL else sprintf("%s where one of them is expected to take more than %s s", rule$repetitions, rule$above_s)
  }
  virtual <- any(vapply(study$cells, function(cell) identical(cell$clock, "virtual"), TRUE))
  stated <- virtual && !is.null(study$virtual)
  parts <- c(
    slow(study$slow_cells), if (stated) sprintf("%s in virtual time", study$virtual$repetitions),
    if (stated) slow(study$virtual$slow_cells),
    if (virtual) sprintf("%s at most without loss in virtual time", study$virtual$exact_repetitions %||% 3)
  )
  if (length(parts) == 0L) "" else tex(sprintf(" (%s)", paste(parts, collapse = ", ")))
}

#' Loads that would not count had the guard judged what other programs did to them, in words; "" where it judged all.
unjudged_text <- function(unjudged, loads) {
  if (unjudged == 0L) {
    return("")
  }
  which <- if (unjudged == loads) "all loads" else sprintf("%d of %d loads", unjudged, loads)
  sprintf(
    "\\textbf{Of %s the guard only recorded what other programs delayed (\\texttt{%s}): disturbed loads are among the numbers.}",
    which, tex("HOWQUICK_GUARD=record")
  )
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

#' Is there a tree among the figures of the appendix? Only then does the text speak of one.
shows_tree <- function(study, tree, drawn) {
  trees <- Filter(function(figure) figure$kind == "tree" && figure$name %in% drawn, study$figures)
  length(trees) > 0L && nrow(tree) > 0L
}

TREE_METHOD <- paste(
  "The decision tree is fitted to these winners by recursive partitioning (\\texttt{rpart}, Gini index) with the factors'",
  "levels as ordered categories."
)

tree_sentence <- function(study, tree, drawn) {
  if (!shows_tree(study, tree, drawn)) {
    return("")
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
    caption <- sprintf("%s %s%s", tex(ended(figure$title)), tex(trimws(figure$caption %||% "")), tex(paper_reference(figure)))
    c(
      "\\begin{figure}[htbp]", "\\centering", sprintf("\\includegraphics{\\studyfolder/figures/%s.pdf}", figure$name),
      sprintf("\\caption{%s}", caption), sprintf("\\label{\\studyfolder:%s}", figure$name), "\\end{figure}"
    )
  })
  as.character(unlist(floats))
}

#' Sentence on links that are not plain, with a space behind it; "" where all are.
other_links <- function(study) {
  words <- vapply(study$cells, function(cell) link_features(cell$link %||% list()), "")
  words <- sort(unique(words[nzchar(words)]))
  if (length(words) == 0L) return("")
  sprintf(
    "Links of some cells are otherwise (%s); an active queue management there takes the place of the drop-tail queue. ",
    paste(words, collapse = "; ")
  )
}
