# How a drawn figure becomes files.

uses("base/errors")

#' Write a figure as SVG and as PDF.
#'
#' The PDF is made from the SVG, for R's own PDF writers either leave fonts out or put the time of day in.
#' The time in the PDF is SOURCE_DATE_EPOCH, or 1970 where that is not set: equal data give equal bytes.
#'
#' @param drawn list(plot, width, height, links): `links` (may be missing) are the targets, in
#'   results/, of the texts that `linked` marked
#' @param path of the PDF; the SVG is written next to it
save_figure <- function(drawn, path) {
  dir.create(dirname(path), recursive = TRUE, showWarnings = FALSE)
  picture <- sub("[.]pdf$", ".svg", path)
  # A text with a fixed width would be squeezed when its mark is taken out.
  svglite::svglite(
    picture,
    width = drawn$width / 25.4, height = drawn$height / 25.4, bg = "white", fix_text_size = is.null(drawn$links)
  )
  tryCatch(print(drawn$plot), finally = grDevices::dev.off())
  if (!is.null(drawn$links)) {
    targets <- ifelse(is.na(drawn$links), NA, file.path(RESULTS, drawn$links))
    writeLines(add_links(readLines(picture), targets), picture)
  }
  epoch <- Sys.getenv("SOURCE_DATE_EPOCH", "0")
  done <- processx::run(
    "rsvg-convert", c("--format", "pdf", "--output", path, picture),
    error_on_status = FALSE, env = c("current", SOURCE_DATE_EPOCH = epoch)
  )
  if (done$status != 0L) fail(path, paste("rsvg-convert could not write it:", trimws(done$stderr)), "Check space and permissions")
  path
}

# Characters of Unicode's private area, which no text of ours holds.
LINK_BEGIN <- "\uE000"

LINK_END <- "\uE001"

#' Mark texts as hyperlinks, numbered in order; `add_links` turns the marks into links.
linked <- function(text) sprintf("%s%d%s%s", LINK_BEGIN, seq_along(text), LINK_END, text)

#' Turn marked texts of an SVG into hyperlinks, and take the marks out.
#'
#' @param lines of the SVG
#' @param links targets by number; NA: a text without link
add_links <- function(lines, links) {
  pattern <- sprintf("(<text [^>]*>)%s([0-9]+)%s([^<]*</text>)", LINK_BEGIN, LINK_END)
  vapply(lines, function(line) {
    parts <- regmatches(line, regexec(pattern, line))[[1]]
    if (length(parts) == 0L) {
      return(line)
    }
    text <- paste0(parts[2], parts[4])
    target <- links[as.integer(parts[3])]
    if (!is.na(target)) text <- sprintf("<a xlink:href=\"%s\">%s</a>", xml_text(target), text)
    sub(pattern, gsub("\\", "\\\\", text, fixed = TRUE), line)
  }, "", USE.NAMES = FALSE)
}

#' Text as an XML attribute.
xml_text <- function(text) {
  for (pair in list(c("&", "&amp;"), c("<", "&lt;"), c("\"", "&quot;"))) text <- gsub(pair[1], pair[2], text, fixed = TRUE)
  text
}

# From results/figures/<study>/ to results/, where the paths of runs begin.
RESULTS <- "../.."
