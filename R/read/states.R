# What a cell is called where no arm wins it, or where it has no number.
TIE <- "tie"
NOT_MEASURED <- "not measured"
DISTURBED <- "disturbed too often"
# What a question is that the loads do not decide.
UNDECIDED <- "undecided"
# What a tile without a number is, in the keys of figures.
EMPTY_TILE <- sprintf("Dotted, empty: %s, or %s.", NOT_MEASURED, DISTURBED)
