"""Output of `rag-otel drift`: a table, a page, a picture, and a comparison with the detector ADWIN."""
