"""Which traces are evaluated: a ratio of all (`ratio`) or a policy (`policy`), at most a number a minute (`cap`)."""
