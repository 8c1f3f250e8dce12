"""Evaluation jobs on a message broker: what a producer publishes, and what `rag-otel work` does with it."""
