"""Running evaluators: one function that evaluates, budgets, usage, and the worker thread of an application."""
