"""Output of `rag-otel drift`: a table and a page."""
