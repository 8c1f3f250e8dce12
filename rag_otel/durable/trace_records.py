"""What is kept of a trace to be evaluated: values in the journal under the trace's key, in this order.

    T  the trace as it was admitted: decision, snapshot and its ended spans
    F  spans of it that were found later
    R  the target has gone to the exporters, without scores
    S  the same, with its scores
    B  a later process has begun to evaluate it
    V  it has been evaluated by a later process, which has survived that

Spans are OTLP bytes, the rest is JSON.
"""

from __future__ import annotations

import functools
import json
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from opentelemetry.sdk.trace import ReadableSpan
from pydantic import TypeAdapter

from rag_otel.durable.span_codec import decode, encode
from rag_otel.model import Chunk, SamplingDecision, SpanRef
from rag_otel.observing.call_snapshot import Snapshot

KEY_BYTES: Final = 24
TRACE: Final = b"T"
RELEASED: Final = b"R"
SCORED: Final = b"S"
BEGUN: Final = b"B"
EVALUATED: Final = b"V"
_FOUND: Final = b"F"
_MARKS: Final = (RELEASED, SCORED, BEGUN, EVALUATED)
_HEAD: Final = struct.Struct("<I")


@dataclass(kw_only=True, eq=False)
class KeptTrace:
    """An admitted trace that was read back."""

    key: bytes
    admitted_at: float
    """Seconds since the epoch."""
    decision: SamplingDecision
    snapshot: Snapshot | None
    root: SpanRef | None
    read: dict[int, ReadableSpan]
    """Span id -> the spans that the trace is read from, as they ended."""
    released: bool = False
    """The target has gone to the exporters."""
    scored: bool = False
    """With its scores."""
    begun: int = 0
    """How many later processes have begun with it, one after the other, and did not get through its evaluation."""

    @property
    def target(self) -> ReadableSpan:
        """The span that gets the scores, as it ended."""
        return self.read[span_id_of(self.key)]


def key_of(trace_id: int, span_id: int) -> bytes:
    """The key of a trace: the ids of its target span."""
    return trace_id.to_bytes(16, "big") + span_id.to_bytes(8, "big")


def span_id_of(key: bytes) -> int:
    """The target's id."""
    return int.from_bytes(key[16:], "big")


def prepare() -> None:
    """Build what is slow to build, before the first trace comes."""
    decision = SamplingDecision(sampled=True, reason="", probability=1.0)
    chunk = Chunk(id="", text="", position=0)
    snapshot = Snapshot(question="", response="", chunks=(chunk,))
    value = trace_value((), admitted_at=0.0, decision=decision, snapshot=snapshot, root=None)
    is_value(value)


def trace_value(
    spans: Sequence[ReadableSpan],
    *,
    admitted_at: float,
    decision: SamplingDecision,
    snapshot: Snapshot | None,
    root: SpanRef | None,
) -> bytes:
    """A trace as it was admitted."""
    # json escapes what UTF-8 cannot carry (lone surrogates in an answer), pydantic's own writer raises on it.
    about = json.dumps(
        {
            "time": admitted_at,
            "decision": _adapter(SamplingDecision).dump_python(decision, mode="json"),
            "snapshot": None if snapshot is None else _snapshot(snapshot),
            "root": None if root is None else [root.trace_id, root.span_id],
        }
    ).encode()
    return b"".join((TRACE, _HEAD.pack(len(about)), about, encode(spans)))


def found_value(spans: Sequence[ReadableSpan]) -> bytes:
    """Spans of the trace that were found later."""
    return _FOUND + encode(spans)


def is_value(value: bytes) -> bool:
    """True for what this module can read."""
    try:
        if value[:1] == TRACE:
            _trace(b"\0" * KEY_BYTES, value)
        elif value[:1] == _FOUND:
            decode(value[1:])
        return value[:1] in (TRACE, _FOUND, *_MARKS)
    except Exception:  # noqa: BLE001 - whatever is wrong with it, it is damage
        return False


def trace_of(key: bytes, values: Iterable[bytes]) -> KeptTrace:
    """The trace that these values describe. Raises ValueError where there is none."""
    kept: KeptTrace | None = None
    target = span_id_of(key)
    for value in values:
        kind = value[:1]
        if kind == TRACE:
            kept = _trace(key, value)
        elif kept is None:
            continue  # the record before it is damaged
        elif kind == _FOUND:
            for span in decode(value[1:]):
                kept.read.setdefault(span.context.span_id, span)
        elif kind in (RELEASED, SCORED):
            kept.released, kept.scored = True, kind == SCORED
        elif kind == BEGUN:
            kept.begun += 1
        elif kind == EVALUATED:
            kept.begun = 0
    if kept is None or target not in kept.read:
        raise ValueError("the trace's own record is missing")
    return kept


def _trace(key: bytes, value: bytes) -> KeptTrace:
    start = 1 + _HEAD.size
    end = start + _HEAD.unpack(value[1:start])[0]
    about: dict[str, Any] = json.loads(value[start:end])
    snapshot, root = about["snapshot"], about["root"]
    return KeptTrace(
        key=key,
        admitted_at=float(about["time"]),
        decision=_adapter(SamplingDecision).validate_python(about["decision"]),
        snapshot=None if snapshot is None else _adapter(Snapshot).validate_python(snapshot),
        root=None if root is None else SpanRef(trace_id=root[0], span_id=root[1]),
        read={span.context.span_id: span for span in decode(value[end:])},
    )


def _snapshot(snapshot: Snapshot) -> Any:
    # A chunk's metadata may hold anything; what JSON lacks is kept as text.
    return _adapter(Snapshot).dump_python(snapshot, mode="json", fallback=str, exclude={"judging"})


@functools.cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)
