"""`rag-otel traces`: traces that are stored in Phoenix or in files."""
