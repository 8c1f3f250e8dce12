"""The collector: OTLP in over gRPC and HTTP, RAG traces assembled and evaluated, everything forwarded over OTLP.

    exporters -> grpc_server / http_server -> intake -> outbox -> backends
                                                |  held: journal, live_traces -> pool (processes) -> enriched -> outbox

Spans stay the bytes that they came as: they are cut out of a request (`wire`), and what is added is appended to them.
"""
