"""What a process tells the one that watches: results without the texts that no alert shows, alerts, counts."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import time
from collections.abc import Callable, Mapping
from typing import Any, Final

from rag_otel.alert import Alert
from rag_otel.evaluation.support import UNSUPPORTED
from rag_otel.model import Chunk, ClaimVerdict, EvaluatedTrace, Evaluation, RagTrace
from rag_otel.writers.attributes import hidden_content

_CHUNK: Final = 120
"""Characters of a chunk without an id, by which it is told apart."""
_TEXT: Final = 20_000
"""Characters of a question or an answer."""
_CLAIMS: Final = 50
"""Claims that keep their texts."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class SharedRecord:
    """One entry of a log. One of the three is set."""

    at: float
    """When it was written, seconds since the epoch."""
    result: EvaluatedTrace | None = None
    alert: Alert | None = None
    """Of a writer of the application's own."""
    counts: Mapping[str, int] | None = None
    """What the process has counted since it told last."""


class RecordFormat:
    """Records as JSON and back."""

    def __init__(self, shows: Callable[[EvaluatedTrace], bool], *, capture_content: bool = True) -> None:
        """`shows`: whether an alert may show this answer; of others no text is written. `capture_content` of False: of
        none."""
        from pydantic import TypeAdapter  # slow to import, and only needed with a state folder

        self._shows = shows
        self._capture_content = capture_content
        self._adapter: Any = TypeAdapter(SharedRecord)

    def encode(self, record: SharedRecord) -> bytes:
        """One line of ASCII."""
        if record.result is not None:
            record = dataclasses.replace(record, result=self._reduced(record.result))
        fields = self._adapter.dump_python(record, mode="json", exclude_defaults=True)
        return json.dumps({"at": record.at, **fields}, separators=(",", ":")).encode("ascii")

    def decode(self, payload: bytes) -> SharedRecord:
        """Raises ValueError for what `encode` has not written."""
        record: SharedRecord = self._adapter.validate_python(json.loads(payload))
        return record

    def _reduced(self, result: EvaluatedTrace) -> EvaluatedTrace:
        hidden = hidden_content(result, capture_content=self._capture_content)
        shows = self._shows(result)
        trace = result.trace
        kept = RagTrace(
            target=trace.target,
            question=_cut(trace.question) if shows and not hidden.question else None,
            response=_cut(trace.response) if shows and not hidden.response else None,
            chunks=tuple(map(_chunk, trace.chunks)),
            model=trace.model,
            session_id=trace.session_id,
            user_id=trace.user_id,
            service=trace.service,
            route=trace.route,
            tags=dict(trace.tags),
            start_ns=trace.start_ns,
            duration_ns=trace.duration_ns,
            rating=trace.rating,
            convention=trace.convention,
            capture_content=trace.capture_content,
        )
        texts = shows and not hidden.response
        quotes = texts and not hidden.documents
        evaluations = tuple(_evaluation(each, texts=texts, quotes=quotes) for each in result.evaluations)
        return dataclasses.replace(result, trace=kept, evaluations=evaluations, origin=None)


def record_now(**fields: Any) -> SharedRecord:
    """A record of this moment."""
    return SharedRecord(at=time.time(), **fields)


def _cut(text: str | None) -> str | None:
    return None if text is None else text[:_TEXT]


def _chunk(chunk: Chunk) -> Chunk:
    """What tells chunks apart; no text of theirs."""
    beginning = chunk.text[:_CHUNK].encode("utf-8", "replace")
    text = "" if chunk.has_id else hashlib.blake2b(beginning, digest_size=8).hexdigest()
    return Chunk(id=chunk.id, text=text, position=chunk.position, has_id=chunk.has_id)


def _evaluation(evaluation: Evaluation, *, texts: bool, quotes: bool) -> Evaluation:
    claims = []
    for index, claim in enumerate(sorted(evaluation.claims, key=lambda each: each.verdict not in UNSUPPORTED)):
        shown = texts and index < _CLAIMS and claim.verdict in UNSUPPORTED
        claims.append(_claim(claim, text=shown, quotes=shown and quotes))
    return dataclasses.replace(evaluation, claims=tuple(claims), explanation=None, chunk_scores=())


def _claim(claim: ClaimVerdict, *, text: bool, quotes: bool) -> ClaimVerdict:
    if text:
        return claim if quotes else dataclasses.replace(claim, quotes=(), explanation=None)
    bare = dataclasses.replace(claim.claim, text="")
    return ClaimVerdict(claim=bare, verdict=claim.verdict, judge=claim.judge)
