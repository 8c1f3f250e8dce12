"""rag-otel: faithfulness of RAG answers in production, on OpenTelemetry."""
