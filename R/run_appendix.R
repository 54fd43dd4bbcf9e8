# Rscript R/run_appendix.R --study plan.json --statistics DIR --figures DIR [--calibration FILE,…] [--manifest FILE]
#   [--runs a.csv[,b.csv…]] --output DIR
# Writes the LaTeX fragments of one study, copies of its figures, and `epoch`, the Unix time of the data, which
# is the SOURCE_DATE_EPOCH to typeset with. --runs only names the tables in the text, with their checksums.
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1])), "load.R"))
uses("base/cli", "read/study", "appendix/fragments")
run_program(function(arguments) {
  arguments <- parse_arguments(arguments, c("study", "statistics", "figures", "output"), c("calibration", "manifest", "runs"))
  study <- read_study(arguments$study)
  write_appendix(study, arguments)
})
