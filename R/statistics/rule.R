# The decision rule of "How quick is QUIC?": A beats B in a cell if, in at least 70 % of the
# comparisons, A's page load time is at least 10 % lower.

uses("base/tolerance", "read/censoring", "read/runs", "read/states", "statistics/resampling")

#' Share of the comparisons in which A is at least `margin` lower than B.
#'
#' Works on costs (`as_costs`). Did not finish is `Inf`: a finished load beats one that did not finish, two that did not finish tie.
#'
#' @param a,b outcomes in seconds; for `paired` named by repetition
#' @param margin 0.1 for 10 %
#' @param comparisons `all`: every a with every b; `paired`: equal repetitions
#' @return number in [0, 1], NA without any comparison
beat_share <- function(a, b, margin, comparisons = "all") {
  if (comparisons == "paired") {
    shared <- intersect(names(a), names(b))
    a <- a[shared]
    b <- b[shared]
    if (length(shared) == 0L) {
      return(NA_real_)
    }
    return(mean(is.finite(a) & a <= beat_bound(b, margin)))
  }
  if (length(a) == 0L || length(b) == 0L) {
    return(NA_real_)
  }
  # Counting in the sorted vector is the same as comparing all pairs, without the pairs.
  sum(findInterval(beat_bound(b, margin), sort(a[is.finite(a)]))) / (length(a) * length(b))
}

beat_bound <- function(b, margin) (1 - margin) * b * (1 + RELATIVE_TOLERANCE)

#' Bootstrap replicates of `beat_share`.
#'
#' A resample only changes how often each load counts, so its share is a product of these counts with the
#' one matrix that says which load beats which.
#'
#' @param draws_a,draws_b as from `draw_rows`
#' @return numeric vector, one per resample
replicate_share <- function(a, b, draws_a, draws_b, margin, comparisons = "all") {
  beats <- outer(unname(a), beat_bound(unname(b), margin), "<=") & is.finite(a)
  if (comparisons == "paired") {
    # Pairs stay pairs when repetitions are drawn.
    return(as.vector(draw_counts(draws_a) %*% diag(beats)) / length(a))
  }
  rowSums((draw_counts(draws_a) %*% beats) * draw_counts(draws_b)) / (length(a) * length(b))
}

#' Number of comparisons that `beat_share` makes.
count_comparisons <- function(a, b, comparisons = "all") {
  if (comparisons == "paired") length(intersect(names(a), names(b))) else length(a) * length(b)
}

#' Does this share win?
wins <- function(share, rule) !is.na(share) & share >= rule$share - RELATIVE_TOLERANCE

#' Which of several arms win a cell?
#'
#' The winners are the smallest group of arms of which each beats every arm outside the group, while
#' none in the group beats another. With three arms: one that beats both others; or two that beat the
#' third but not each other; otherwise nobody (a tie).
#'
#' @param beats logical matrix with arms as row and column names: row beats column
#' @return names of the winners, `character()` for a tie
cell_winners <- function(beats) {
  arms <- rownames(beats)
  # Who is in such a group beats everybody else and nobody in it: the group is all that any one of it does not beat.
  groups <- lapply(arms, function(arm) arms[!beats[arm, ]])
  won <- vapply(groups, function(group) {
    length(group) < length(arms) && all(beats[group, setdiff(arms, group)]) && !any(beats[group, group])
  }, TRUE)
  if (any(won)) groups[won][[which.min(lengths(groups[won]))]] else character()
}

#' Who beats whom among some arms, from their outcomes.
#'
#' @param outcomes named list arm -> outcomes as costs
#' @return logical matrix, row beats column
beat_matrix <- function(outcomes, rule) {
  arms <- names(outcomes)
  beats <- matrix(FALSE, length(arms), length(arms), dimnames = list(arms, arms))
  for (a in arms) {
    for (b in setdiff(arms, a)) {
      beats[a, b] <- wins(beat_share(outcomes[[a]], outcomes[[b]], rule$cost_margin, rule$comparisons), rule)
    }
  }
  beats
}

#' Outcomes of some arms in a cell as costs, by arm.
costs_of_arms <- function(index, study, cell, arms) {
  outcomes <- lapply(arms, function(arm) as_costs(outcomes_at(index, cell, arm), study$comparison$metric))
  stats::setNames(outcomes, arms)
}

#' Winner of every cell of the design among some arms.
#'
#' @param index outcomes as from `outcome_index`
#' @param study resolved study
#' @param arms names of the arms that compete
#' @return data.table: cell, the factors, winners (`arm+arm`, `tie`, `not measured`), n (smallest number
#'   of loads of one of the arms), missing (arms without loads)
winner_table <- function(index, study, arms = study$comparison$arms) {
  rule <- study$comparison$rule
  rows <- lapply(study$design$cell, function(cell) {
    found <- costs_of_arms(index, study, cell, arms)
    counts <- lengths(found)
    winners <- if (any(counts == 0L)) NOT_MEASURED else cell_winners(beat_matrix(found, rule))
    data.table::data.table(
      winners = if (length(winners) == 0L) TIE else paste(winners, collapse = "+"),
      n = min(counts), missing = paste(arms[counts == 0L], collapse = " ")
    )
  })
  cbind(study$design, data.table::rbindlist(rows))
}
