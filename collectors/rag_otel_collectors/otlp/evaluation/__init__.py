"""Evaluation processes: the pool that feeds them, the frames between, and what each does with a trace."""
