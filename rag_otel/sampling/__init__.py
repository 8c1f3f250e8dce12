"""Which traces are evaluated: a seeded coin (`ratio`), then a cap of evaluations per minute (`cap`)."""
