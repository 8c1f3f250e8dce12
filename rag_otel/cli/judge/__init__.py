"""`rag-otel judge`: how good a judge is, and its prompts."""
