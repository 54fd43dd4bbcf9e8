# LaTeX: escaping and tables. Every text that comes from data goes through `tex()`.

TEX_SPECIALS <- c(
  "\\" = "\\textbackslash{}", "{" = "\\{", "}" = "\\}", "$" = "\\$", "&" = "\\&", "#" = "\\#", "%" = "\\%", "_" = "\\_",
  "^" = "\\textasciicircum{}", "~" = "\\textasciitilde{}", "<" = "\\textless{}", ">" = "\\textgreater{}", "|" = "\\textbar{}",
  "\"" = "\\textquotedbl{}", "'" = "\\textquotesingle{}", "`" = "\\textasciigrave{}",
  "\u2212" = "$-$", "\u00d7" = "$\\times$", "\u2264" = "$\\le$", "\u2265" = "$\\ge$", "\u2192" = "$\\to$", "\u2013" = "--",
  "\u2014" = "---", "\u2026" = "\\dots{}", "\u00b5" = "\\textmu{}", "\u03bc" = "\\textmu{}", "\u00b7" = "\\textperiodcentered{}",
  "\u201c" = "``", "\u201d" = "''", "\u2018" = "`", "\u2019" = "'", "\u00a0" = "~", "\n" = " ", "\t" = " "
)

# Below U+0180, which fonts of the encoding T1 have otherwise: control characters, and letters that they lack.
TEX_WITHOUT_GLYPH <- c(0x00:0x1f, 0x7f:0x9f, 0x126, 0x127, 0x138, 0x13f, 0x140, 0x149, 0x166, 0x167, 0x17f)

#' Escape text for LaTeX; NA becomes an empty text.
#'
#' Letters of European languages stay; a character LaTeX has no glyph for is shown by its code point, a byte that
#' is no character by its value.
tex <- function(text) {
  text <- iconv(enc2utf8(as.character(text)), "UTF-8", "UTF-8", sub = "byte")
  text[is.na(text)] <- ""
  vapply(text, function(one) {
    letters <- strsplit(enc2utf8(one), "", fixed = TRUE)[[1]]
    # Two in a row would become one other character (a dash, a low quote).
    twice <- letters %in% c("-", ",") & letters == c("", letters[-length(letters)])[seq_along(letters)]
    letters[twice] <- paste0("{}", letters[twice])
    special <- letters %in% names(TEX_SPECIALS)
    letters[special] <- TEX_SPECIALS[letters[special]]
    codes <- vapply(letters, function(letter) utf8ToInt(letter)[1], 0L)
    strange <- !special & (codes > 0x17f | codes %in% TEX_WITHOUT_GLYPH)
    letters[strange] <- sprintf("[U+%04X]", codes[strange])
    paste(letters, collapse = "")
  }, "", USE.NAMES = FALSE)
}

#' A number with three significant digits, NA as a dash, `Inf` in words; ready for LaTeX.
tex_number <- function(x, digits = 3L) {
  shown <- ifelse(abs(x) >= 10^(digits - 1), sprintf("%.0f", x), formatC(signif(x, digits), format = "fg", digits = digits, flag = "#"))
  shown <- sub("[.]$", "", shown)
  ifelse(is.na(x), "--", ifelse(is.infinite(x), ifelse(x > 0, "$>$ limit", "$<$ $-$limit"), sub("^-", "$-$", shown)))
}

#' A value with its interval: `1.23 [1.10, 1.40]`; without an interval only the value.
tex_interval <- function(value, low, high) {
  ifelse(is.na(low) | is.na(high), tex_number(value), sprintf("%s [%s, %s]", tex_number(value), tex_number(low), tex_number(high)))
}

#' A whole number, NA as a dash.
tex_count <- function(n) ifelse(is.na(n), "--", format(n, trim = TRUE, scientific = FALSE))

#' A p-value.
tex_p <- function(p) ifelse(is.na(p), "--", ifelse(p < 0.001, "$<$ 0.001", sprintf("%.3f", p)))

#' A table over pages.
#'
#' @param cells data frame of texts that are LaTeX already
#' @param header texts that are LaTeX already
#' @param columns column types, e.g. `l r p{40mm}`
#' @param size font size command without the backslash
#' @param breaks row numbers before which a thin rule is drawn
tex_table <- function(cells, header, columns, size = "footnotesize", breaks = integer()) {
  if (nrow(cells) == 0L) {
    return("\\emph{None.}\\par")
  }
  rows <- do.call(paste, c(unname(as.list(cells)), sep = " & "))
  rules <- ifelse(seq_along(rows) %in% setdiff(breaks, 1L), "\\addlinespace[2pt]\n", "")
  head <- sprintf("\\toprule\n%s \\\\\n\\midrule\n", paste(sprintf("\\textbf{%s}", header), collapse = " & "))
  c(
    sprintf("{\\%s\\setlength{\\tabcolsep}{4pt}", size), sprintf("\\begin{longtable}{@{}%s@{}}", columns),
    paste0(head, "\\endfirsthead"), paste0(head, "\\endhead"),
    # As high as the last foot: otherwise the last page of a table may hold its head and nothing else.
    "\\bottomrule\n\\endfoot", "\\bottomrule\n\\endlastfoot",
    paste0(rules, rows, " \\\\"), "\\end{longtable}}"
  )
}

#' Definition of a macro.
tex_macro <- function(name, value) sprintf("\\renewcommand{\\%s}{%s}", name, value)
