"""Code that all dialects share: the tree of spans, values, messages, documents, retrievals, and building a RAG
trace."""
