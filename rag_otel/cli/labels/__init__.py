"""`rag-otel labels`: what people say of answers, and how the judge compares with it."""
