"""Which traces are evaluated: a ratio of all traces (`ratio`), limited to a number per minute (`cap`)."""
