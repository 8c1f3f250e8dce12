"""What the dialects share: the tree of spans, values and messages, retrievals, and how a RAG trace is put together."""
