"""Parts that tests and benchmarks share: judges, brokers, collectors and workers as processes, receivers, prepared
scores, traces over OTLP. Not installed with rag-otel."""
