# Decimal fractions such as 0.9 * 3 are not exact in binary; a comparison at the boundary must not hang on that.
RELATIVE_TOLERANCE <- 1e-9
