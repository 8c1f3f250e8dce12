"""The collector: OTLP in over gRPC and HTTP, RAG traces assembled and evaluated, everything forwarded over OTLP.

    grpc_server / http_server / kafka_consumer -> intake -> outbox -> backends
                                                    |  held: journal, live_traces -> pool (processes) -> outbox

Spans stay the bytes that they came as: they are cut out of a request (`wire`), and what is added is appended to them.
"""
