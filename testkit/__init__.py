"""Parts that tests and benchmarks share: a judge's server, traces over OTLP. Not installed with rag-otel."""
