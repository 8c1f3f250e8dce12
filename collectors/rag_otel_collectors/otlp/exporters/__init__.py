"""Spans leave for the backend: a queue on disk, OTLP over gRPC or HTTP, confirmation that Phoenix stored them."""
