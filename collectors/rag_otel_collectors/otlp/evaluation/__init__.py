"""Evaluation processes: the pool that starts them, the message format of their pipes, and the evaluation of a trace."""
