"""OTLP comes in over gRPC and HTTP: servers, request bodies, API keys, TLS, and what is done with each span."""
