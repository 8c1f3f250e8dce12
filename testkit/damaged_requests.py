"""Requests that are almost right: valid ones, damaged at random."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Iterator

from google.protobuf.json_format import MessageToDict

from testkit.otlp_requests import a_rag_trace, a_request, a_span

PROTOBUF = "application/x-protobuf"
JSON = "application/json"


def seeds() -> list[tuple[bytes, str]]:
    """(body, content type) of valid requests; the traces' ids repeat, so that damaged spans meet whole ones."""
    trace_id = bytes(range(1, 17))
    message = a_request(*a_rag_trace(trace_id), a_span(trace_id, "GET /"), *a_rag_trace(trace_id[::-1]))
    span = {"traceId": trace_id.hex(), "spanId": "01" * 8, "name": "x", "attributes": []}
    request = MessageToDict(message)
    for resource in request["resourceSpans"]:
        for scope in resource["scopeSpans"]:
            scope["spans"] = [each | {"traceId": trace_id.hex(), "spanId": "02" * 8} for each in scope["spans"]] + [
                span
            ]
    return [
        (message.SerializeToString(), PROTOBUF),
        (a_request(*a_rag_trace()).SerializeToString(), PROTOBUF),
        (json.dumps(request).encode(), JSON),
        (json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}).encode(), JSON),
    ]


def mutations(seed: int) -> Iterator[tuple[bytes, str, str]]:
    """(body, content type, content encoding), without end; the same ones for the same seed."""
    source = random.Random(seed)
    whole = seeds()
    while True:
        body, form = source.choice(whole)
        changed = bytearray(body)
        for _ in range(source.choice((1, 1, 2, 8))):
            _damage(changed, source)
        kind = source.random()
        if kind < 0.1:
            packed = bytearray(gzip.compress(bytes(changed), 1))
            if kind < 0.05:
                _damage(packed, source)
            yield bytes(packed), form, "gzip"
        elif kind < 0.12:
            yield bytes(changed), JSON if form == PROTOBUF else PROTOBUF, "identity"
        else:
            yield bytes(changed), form, "identity"


def _damage(body: bytearray, source: random.Random) -> None:
    at = source.randrange(len(body) + 1)
    length = source.choice((1, 2, 4, 16, 200))
    how = source.randrange(6)
    if how == 0 and body:
        body[at % len(body)] ^= 1 << source.randrange(8)
    elif how == 1:
        del body[at : at + length]
    elif how == 2:
        body[at:at] = source.randbytes(length)
    elif how == 3:
        body[at:at] = body[at : at + length] * source.choice((1, 3))
    elif how == 4 and body:
        body[at % len(body)] = source.choice((0x00, 0x7F, 0x80, 0xFF, 0x0A, 0x22, 0x7B))
    else:
        del body[at:]
