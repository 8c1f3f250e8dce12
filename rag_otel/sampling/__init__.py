"""Which traces are evaluated: a share of all, at most so many a minute (`amount`), or as a policy says (`policy`)."""
