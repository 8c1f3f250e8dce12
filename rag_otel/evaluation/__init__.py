"""Running evaluators: one function that evaluates, usage, and the worker thread of an application."""
