"""Training of the embedded judge: labelled answers in, coefficients out, the same to the byte every time."""
