# Tables of the appendix as LaTeX.

uses(
  "base/tables", "read/calibration", "read/labels", "read/processor", "read/selection", "read/states", "read/study",
  "statistics/checks", "statistics/claims", "statistics/precision", "appendix/fragments", "appendix/latex"
)

verdict_text <- function(verdict) {
  ifelse(verdict %in% c(SUPPORTED, NOT_SUPPORTED), sprintf("\\textbf{%s}", verdict), verdict)
}

#' The answer first: one row per claim, with how many numbers it stands on together.
claims_table <- function(study, claims) {
  first <- pick(claims, !duplicated(claims$claim))
  counted <- vapply(first$claim, function(claim) sum(claims$counts[claims$claim == claim]), 0L)
  joint <- ifelse(counted == 1L, "one number", sprintf("all of %d numbers", counted))
  where <- sprintf(" \\emph{(%s%s)}", ifelse(is.na(first$where) | first$where == "", "", paste0(tex(first$where), "; ")), joint)
  tex_table(
    data.frame(seq_len(nrow(first)), paste0(tex(first$text), where), verdict_text(first$claim_verdict)),
    c("", if (has_paper(study)) "Claim of the paper" else "Claim", "Here"), "r p{123mm} p{30mm}", "small", seq_len(nrow(first))
  )
}

#' The numbers behind the claims: a heading per quantity, with what is tested, and a line per cell with its levels in columns.
numbers_table <- function(study, claims) {
  if (nrow(claims) == 0L) {
    return(tex_table(claims, character(), ""))
  }
  heading <- quantity_headings(study, claims)
  sorted <- order(match(heading, unique(heading)))
  claims <- pick(claims, sorted)
  heading <- heading[sorted]
  first <- !duplicated(heading)
  factors <- factor_names(study)
  note <- ifelse(is.na(claims$note) | claims$note == "", "", sprintf(" \\emph{(%s)}", tex(claims$note)))
  aside <- paste0(
    ifelse(is.na(claims$enough), "", sprintf(", %s would do", claims$enough)),
    ifelse(claims$counts, "", " \\emph{(does not count)}"),
    ifelse(claims$counts & claims$verdict == NOT_SUPPORTED & !claims$refutes, " \\emph{(alone; not among all of the claim's)}", "")
  )
  line <- sprintf("\\multicolumn{%d}{@{}p{166mm}}{\\raggedright %s} \\\\*\n", length(factors) + 4L, heading)
  tex_table(
    data.frame(
      paste0(ifelse(first, line, ""), "\\quad ", level_columns(study, claims)),
      tex_interval(claims$value, claims$low, claims$high), claims$n, paste0(tex(claims$verdict), aside, note)
    ),
    c("", tex(study$factor_table$label[match(factors, study$factor_table$factor)]), "Measured [interval]", "$n$", "Verdict"),
    paste(c("l", rep("l", length(factors)), "l", "r", ">{\\raggedright\\arraybackslash}p{42mm}"), collapse = " "),
    "scriptsize", which(first)
  )
}

#' A condition in words taken apart: what is measured, and where.
#'
#' @return list(quantity, place, level: does `place` say nothing but the levels of one cell)
quantity_parts <- function(study, claims) {
  known <- claims$cells %in% study$design$cell
  place <- sprintf("%d cells", lengths(strsplit(claims$cells, " ", fixed = TRUE)))
  place[known] <- cell_title(study, claims$cells[known])
  at <- mapply(function(what, place) regexpr(paste0(": ", place), what, fixed = TRUE)[1], claims$what, place, USE.NAMES = FALSE)
  found <- at > 0L
  list(
    quantity = ifelse(found, substr(claims$what, 1L, at - 1L), claims$what),
    place = ifelse(found, substring(claims$what, at + 2L), ""), level = found & known & endsWith(claims$what, place)
  )
}

quantity_headings <- function(study, claims) {
  number <- match(claims$claim, unique(claims$claim))
  quantity <- quantity_parts(study, claims)$quantity
  paper <- ifelse(is.na(claims$paper) | claims$paper == "", "", sprintf("; the paper: %s", tex(claims$paper)))
  sprintf("\\textbf{%d} %s. Tested: %s%s", number, tex(first_upper(quantity)), tex(claims$bound), paper)
}

#' The levels of each row's cell, one per column; where the row is about something else than one cell, that in words.
level_columns <- function(study, claims) {
  factors <- factor_names(study)
  parts <- quantity_parts(study, claims)
  if (length(factors) == 0L) {
    return(tex(parts$place))
  }
  rows <- pick(study$design, match(claims$cells, study$design$cell))
  levels <- lapply(factors, function(name) tex(as.character(level_labels(study, name, rows[[name]]))))
  across <- do.call(paste, c(list(""), levels, sep = " & "))
  ifelse(parts$level, across, sprintf(" & \\multicolumn{%d}{l}{%s}", length(factors), tex(parts$place)))
}

#' One row per pair over all cells.
overall_table <- function(study, overall) {
  tex_table(
    data.frame(
      tex(arm_label(study, overall$a)), tex(arm_label(study, overall$b)), overall$cells, overall$a_wins, overall$b_wins, overall$ties,
      tex_interval(overall$ratio, overall$low, overall$high), tex_p(overall$p_adjusted)
    ),
    c("First", "Second", "Cells", "First wins", "Second wins", "Tie", "Ratio of medians", "$p$ (alike in all)"), "l l r r r r l r",
    "scriptsize"
  )
}

#' What is compared: from the plan, or from the runs where a table of somebody else has no plan of its arms.
arms_fragment <- function(study, programs) {
  value <- function(arm, key) tex(paste(unlist(arm[[key]] %||% ""), collapse = ", "))
  rows <- lapply(study$arms, function(arm) {
    seen <- pick(programs, programs$arm == arm$name)
    # The name below the label, and once where they are the same: side by side they leave the page.
    name <- sprintf("\\texttt{%s}", tex(arm$name))
    data.frame(
      if (arm$label == arm$name) name else paste(tex(arm$label), "\\newline", name),
      value(arm, "protocol"), value(arm, "server"), value(arm, "client"),
      if ("congestion_control" %in% factor_names(study)) "by cell" else value(arm, "congestion_control"), value(arm, "connection"),
      log_cost_text(study$log_costs[[arm$name]]), sum(seen$n)
    )
  })
  tex_table(
    do.call(rbind, lapply(rows, stats::setNames, letters[1:8])),
    c("Arm", "Protocol", "Server", "Client", "Cong. control", "Connection", "Logged", "Loads"),
    ">{\\raggedright\\arraybackslash}p{48mm} l l l l l r r", "scriptsize"
  )
}

#' What logs leave of an arm's goodput where nothing shapes, in percent: with qlogs / with captures.
#'
#' @param cost list(qlog, captures): shares, NULL for a log that the arm does not write; NULL: not measured
#' @return text for LaTeX; "--" for what is not known
log_cost_text <- function(cost) {
  percent <- function(share) if (is.null(share)) "--" else sprintf("%.0f", 100 * share)
  if (is.null(cost)) "--" else sprintf("%s / %s", percent(cost$qlog), percent(cost$captures))
}

#' The section on what is done otherwise than in the paper; nothing where there is none.
differences_fragment <- function(study) {
  if (!has_paper(study)) {
    return("")
  }
  c("\\Needspace*{12\\baselineskip}", "\\section{Differences from the paper}", differences_table(study))
}

differences_table <- function(study) {
  rows <- lapply(study$differences, function(one) data.frame(tex(one$paper), tex(one$here), tex(one$why)))
  if (length(rows) == 0L) {
    return("\\emph{None stated.}")
  }
  ragged <- ">{\\raggedright\\arraybackslash}p{%dmm}"
  tex_table(
    do.call(rbind, lapply(rows, stats::setNames, letters[1:3])), c("Paper", "Here", "Why"),
    paste(sprintf(ragged, c(44L, 52L, 64L)), collapse = " "), "footnotesize", seq_along(rows)
  )
}

#' Calibration: one row per link, quantity and direction.
links_table <- function(calibration) {
  if (nrow(calibration) == 0L) {
    return("\\emph{No link was calibrated: the runs come from elsewhere.}")
  }
  first <- !duplicated(calibration$link)
  tex_table(
    data.frame(
      ifelse(first, tex(link_label(calibration)), ""), tex(quantity_label(calibration$quantity)), tex(calibration$direction),
      tex_number(calibration$asked), tex_interval(calibration$measured, calibration$low, calibration$high),
      ifelse(is.na(calibration$n), "--", calibration$n), tex(calibration$verdict)
    ),
    c("Link: rate, RTT, loss", "Quantity", "Direction", "Asked", "Measured [interval]", "$n$", "Verdict"), "l l l r l r l",
    "scriptsize", which(first)
  )
}

#' Means; where some loads did not finish, as the bound that they are.
mean_text <- function(study, summary) {
  sign <- if (study$comparison$metric$better == "higher") "" else "$\\ge$ "
  paste0(ifelse(summary$mean_is_bound & !is.na(summary$mean), sign, ""), tex_number(summary$mean))
}

#' What the checks found: several modes, drift, sessions that differ; one row per cell and arm with a finding.
checks_fragment <- function(study, checks) {
  found <- pick(checks, checks$several_modes | checks$drifts | checks$sessions_differ)
  able <- sum(!is.na(checks$p_drift))
  if (nrow(found) == 0L) {
    return(sprintf("Of %d cells and arms with loads enough to tell (at least %d), none shows any of these.", able, SMALLEST_SHAPE))
  }
  first <- !duplicated(found$cell)
  says <- function(flag, text) ifelse(flag, text, "--")
  tex_table(
    data.frame(
      ifelse(first, sprintf("\\texttt{%s}", tex(found$cell)), ""), tex(arm_label(study, found$arm)), found$n,
      says(found$several_modes, sprintf("yes (%s)", tex_p(found$p_modes_adjusted))),
      says(found$drifts, sprintf("%s\\,\\%% (%s)", tex_number(found$drift_percent, 2L), tex_p(found$p_drift_adjusted))),
      says(found$sessions_differ, sprintf("yes (%s)", tex_p(found$p_session_adjusted)))
    ),
    c("Cell", "Arm", "$n$", "Several modes ($p$)", "Drift ($p$)", "Sessions differ ($p$)"), "l l r l l l", "scriptsize", which(first)
  )
}

#' All cells: a line per cell with its winner, then a line per arm.
cells_table <- function(study, summary, winners) {
  if (nrow(summary) == 0L) {
    return("\\emph{Nothing was measured.}")
  }
  first <- !duplicated(summary$cell)
  # Of loads in real time the processor's is a part already.
  shown <- any(!is.na(summary$processor_s %||% NA))
  label <- winner_label(study, winners$winners[match(summary$cell, winners$cell)])
  above <- sprintf(
    "\\multicolumn{%d}{@{}l}{\\texttt{%s}: %s} \\\\*\n", if (shown) 9L else 8L, tex(summary$cell),
    ifelse(label == NOT_MEASURED, "rule not applied, an arm is missing", tex(label))
  )
  rows <- data.frame(
    paste0(ifelse(first, above, ""), "\\quad ", tex(arm_label(study, summary$arm))), summary$n, summary$failed + summary$timeout,
    summary$invalid, tex_interval(summary$median, summary$low, summary$high), mean_text(study, summary),
    ifelse(is.na(summary$cv), "--", sprintf("%.0f\\,\\%%", 100 * summary$cv)),
    ifelse(is.infinite(summary$repetitions_needed), sprintf("$>$ %d", MOST_REPETITIONS), tex_count(summary$repetitions_needed))
  )
  unit <- tex(study$comparison$metric$unit)
  header <- c(
    "Cell and arm", "$n$", "Unfinished", "Invalid", sprintf("Median [interval] (%s)", unit), sprintf("Mean (%s)", unit), "CV",
    "$n$ needed", if (shown) "Processor"
  )
  if (shown) rows$processor <- processor_column(summary$processor_s, summary$processor_share)
  tex_table(rows, header, if (shown) "l r r r l r r r r" else "l r r r l r r r", "scriptsize", which(first))
}

#' Processor seconds of a load in milliseconds, with a mark where they are above COSTLY_SHARE of it.
processor_column <- function(seconds, share) {
  mark <- ifelse(share > COSTLY_SHARE & !is.na(share), "\\,\\dag", "")
  ifelse(is.na(seconds), "--", sprintf("%.0f\\,ms%s", 1000 * seconds, mark))
}

#' Loads that did not end well, by reason.
failures_fragment <- function(study, failures) {
  if (nrow(failures) == 0L) {
    return("Every load finished.")
  }
  first <- !duplicated(failures$cell)
  tex_table(
    data.frame(
      ifelse(first, sprintf("\\texttt{%s}", tex(failures$cell)), ""), tex(arm_label(study, failures$arm)), tex(failures$status),
      sprintf("%d of %d", failures$n, failures$of), tex(failures$reason)
    ),
    c("Cell", "Arm", "Status", "Loads", "Reason"), "l l l r >{\\raggedright\\arraybackslash}p{52mm}", "scriptsize", which(first)
  )
}

#' What the design has and the data has not.
missing_fragment <- function(study, missing) {
  if (nrow(missing) == 0L) {
    return("Every arm was measured in every cell.")
  }
  key <- row_key(missing, c("arm", "state", "why"))
  rows <- lapply(split(seq_len(nrow(missing)), factor(key, unique(key))), function(rows) {
    one <- rows[1]
    data.frame(
      tex(arm_label(study, missing$arm[one])), tex(missing$state[one]), length(rows), tex(missing$why[one]),
      stringsAsFactors = FALSE
    )
  })
  tex_table(
    do.call(rbind, lapply(rows, stats::setNames, letters[1:4])), c("Arm", "State", "Cells", "Why"),
    "l l r >{\\raggedright\\arraybackslash}p{68mm}"
  )
}

#' Versions: programs of the arms as far as the runs tell, the emulator, the programs built from locks, R; and licences.
versions_table <- function(study, programs, calibration, manifest) {
  seen <- function(role) {
    column <- paste0(role, "_version")
    if (!column %in% names(programs)) {
      return(NULL)
    }
    known <- !is.na(programs[[column]])
    unique(data.frame(what = programs[[role]][known], version = programs[[column]][known], source = rep("as it ran", sum(known))))
  }
  emulator <- unique(data.frame(
    what = calibration$backend, version = calibration$backend_version, source = rep("link emulator", nrow(calibration))
  ))
  built <- do.call(rbind, lapply(names(manifest$programs), function(name) {
    data.frame(what = name, version = substr(manifest$programs[[name]]$hash %||% "", 1L, 16L), source = "hash of locks and adapters")
  }))
  here <- loaded_packages()
  rows <- unique(rbind(seen("server"), seen("client"), emulator, built, here))
  licence <- vapply(rows$what, function(name) study$licences[[name]] %||% "", "")
  tex_table(
    data.frame(tex(rows$what), sprintf("\\texttt{%s}", tex(rows$version)), tex(rows$source), tex(licence)),
    c("Program", "Version or hash", "Told by", "Licence"),
    "l >{\\raggedright\\arraybackslash}p{70mm} l >{\\raggedright\\arraybackslash}p{25mm}"
  )
}

#' R and the packages that the analysis uses.
loaded_packages <- function() {
  packages <- c("ggplot2", "data.table", "boot", "coin", "rpart", "svglite", "jsonlite")
  versions <- vapply(packages, function(name) as.character(utils::packageVersion(name)), "")
  data.frame(what = c("R", packages), version = c(as.character(getRversion()), versions), source = "analysis")
}

#' All packages of the distribution, small.
packages_fragment <- function(manifest) {
  packages <- manifest$debian$packages
  if (length(packages) == 0L) {
    return("\\emph{The manifest lists no packages.}")
  }
  names <- sort(names(packages), method = "radix")
  lines <- sprintf("%s \\texttt{%s}\\\\", tex(names), tex(unlist(packages[names])))
  c("\\begin{multicols}{3}\\raggedright\\tiny\\noindent", lines, "\\end{multicols}")
}

sessions_fragment <- function(sessions) {
  tex_table(
    data.frame(
      sprintf("\\texttt{%s}", tex(sessions$session)), sessions$n, sessions$groups, tex_number(sessions$ratio)
    ),
    c("Session", "Finished loads", "Cells and arms shared with others", "Median relative to all"), "l r r r"
  )
}
