#' Stop with one message for the user: what is wrong, where, and the remedy.
#'
#' @param where file (and key) the message is about
#' @param problem what is wrong with it
#' @param remedy what to do
fail <- function(where, problem, remedy) {
  text <- sprintf("%s: %s. %s.", where, problem, remedy)
  stop(structure(class = c("user_error", "error", "condition"), list(message = text, call = NULL)))
}

#' A remark on standard error that does not stop the work.
remark <- function(...) message("analysis: ", sprintf(...))

#' Words as one phrase: `a`, `a and b`, `a, b and c`; after `most` words the rest is counted.
phrase <- function(words, most = 6L) {
  words <- as.character(words)
  if (length(words) > most) {
    words <- c(words[seq_len(most - 1L)], sprintf("%d more", length(words) - most + 1L))
  }
  if (length(words) < 2L) {
    return(paste(words, collapse = ""))
  }
  last <- length(words)
  paste(paste(words[-last], collapse = ", "), "and", words[last])
}
