"""How `rag-otel drift` shows what it found: a table, a page, a picture, a second opinion."""
