"""Output of `rag-otel drift`: a table, a page, a picture, a second opinion by ADWIN."""
