"""Traces for the tests of sampling."""

from __future__ import annotations

import random
from typing import Any

from rag_otel.model import Chunk, RagTrace, SpanRef

START_S = 1_790_000_000


def trace_id(rng: random.Random) -> str:
    return f"{rng.getrandbits(128):032x}"


def a_trace(rng: random.Random | None = None, *, at_s: float = START_S, seconds: float = 1.0, **more: Any) -> RagTrace:
    """A trace that can be evaluated and that nothing is wrong with."""
    given: dict[str, Any] = {
        "target": SpanRef(trace_id=trace_id(rng or random.Random(1)), span_id="0" * 15 + "1"),
        "question": "What does the moon orbit?",
        "response": "The moon orbits the earth.",
        "chunks": (Chunk(id="1", text="The moon orbits the earth.", position=0, score=0.9),),
        "route": "/ask",
        "start_ns": round(at_s * 1e9),
        "duration_ns": round(seconds * 1e9),
    }
    return RagTrace(**(given | more))
