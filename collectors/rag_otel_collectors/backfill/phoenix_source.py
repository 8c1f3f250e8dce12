"""Phoenix as the store of a backfill: reads traces with the REST API and writes scores as annotations.

The metadata of an annotation contains the evaluator version and the judge. So an interrupted run can find in Phoenix
which traces are done, and needs no other record.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final

from rag_otel.delivery.retry import call_with_retries
from rag_otel.model import EvaluatedTrace, RagTrace
from rag_otel.protocols import Evaluator
from rag_otel.safety.guard import logger
from rag_otel.writers.annotations import IDENTIFIER
from rag_otel.writers.evaluation_span import carrier_span_id
from rag_otel.writers.phoenix_backfill import PhoenixBackfillWriter
from rag_otel_collectors.backfill.engine import Spans, is_current
from rag_otel_collectors.stored.phoenix_client import patient_policy
from rag_otel_collectors.stored.project import StoredProject

_POLL_S: Final = 0.1
_MAX_POLL_S: Final = 2.0
_RESEND_S: Final = 30.0
_SPAN_ATTEMPTS: Final = 2
_SPANS_AHEAD: Final = 2
"""Batches. One is stored while the next one waits in Phoenix's queue."""
_UNCONFIRMED: Final = 2
"""Batches. Those before them have had time to be stored."""
PATIENCE_S: Final = 300.0
"""A run ends with an error after Phoenix has been unavailable for this time."""


class PhoenixStore:
    """The traces of a project."""

    def __init__(
        self,
        project: StoredProject,
        writer: PhoenixBackfillWriter,
        evaluators: Sequence[Evaluator],
        *,
        patience_s: float = PATIENCE_S,
    ) -> None:
        self._project = project.with_patience(patience_s)
        self._writer = writer
        self._evaluators = evaluators
        self._patience_s = patience_s
        self._retry = patient_policy(patience_s)
        self._ahead: deque[Sequence[EvaluatedTrace]] = deque()
        """Batches whose evaluation spans were sent, but not yet their annotations."""
        self._unconfirmed: deque[Sequence[EvaluatedTrace]] = deque()
        """Batches that were sent and not yet seen in Phoenix."""
        self._waits_for_spans = True
        """False after evaluation spans were sent twice and did not appear."""

    def batches(self) -> Iterator[list[Spans]]:
        for traces in self._project.traces():
            yield [trace.spans for trace in traces]

    def missing(self, traces: Sequence[RagTrace]) -> list[tuple[str, ...]]:
        current = self._current([trace.target.span_id for trace in traces])
        return [
            tuple(each.name for each in self._evaluators if (trace.target.span_id, each.name) not in current)
            for trace in traces
        ]

    def _current(self, span_ids: Sequence[str]) -> set[tuple[str, str]]:
        """Returns (span id, metric) of the stored scores by the current evaluator version and judge."""
        wanted = {each.name: each for each in self._evaluators}
        rows = self._project.client.annotations(self._project.name, span_ids, names=wanted) if span_ids else []
        return {
            (row["span_id"], row["name"])
            for row in rows
            if row["identifier"] == IDENTIFIER and _scored(wanted[row["name"]], row["metadata"] or {})
        }

    def write(self, results: Sequence[EvaluatedTrace]) -> None:
        """Sends results to Phoenix, which queues them. The synchronous form of the API takes five times as long.

        The evaluation spans go some batches ahead, so that Phoenix always has work. Annotations follow when the spans
        of their batch are stored, and are looked for when they have had time: to ask for annotations takes as long as
        the transaction that Phoenix is in, because SQLite's only connection for writing answers that too.
        """
        call_with_retries(lambda: self._writer.write_spans(results), self._retry)
        self._ahead.append(results)
        while len(self._ahead) > _SPANS_AHEAD:
            self._annotate()
        while len(self._unconfirmed) > _UNCONFIRMED:
            self._confirm()

    def settle(self) -> None:
        """Waits until Phoenix has stored the last results. Sends them again if they do not appear, because a restart of
        Phoenix loses its queue.

        Results that do not appear in time (for example, if their span was deleted) are left to the next run, with a
        warning.
        """
        while self._ahead:
            self._annotate()
        while self._unconfirmed:
            self._confirm()

    def _annotate(self) -> None:
        """Sends the annotations of the oldest batch without them. A score that is stored has its evaluation span."""
        if self._waits_for_spans and not self._spans_appear(self._ahead[0][-1]):
            logger.warning("rag-otel: evaluation spans were sent but are not stored in Phoenix")
            self._waits_for_spans = False
        results = self._ahead.popleft()
        call_with_retries(lambda: self._writer.write_annotations(results), self._retry)
        self._unconfirmed.append(results)

    def _spans_appear(self, last: EvaluatedTrace) -> bool:
        """Waits for the evaluation span of a result. Phoenix stores spans in the order in which they came."""
        wanted = f"{carrier_span_id(last):016x}"
        for _ in range(_SPAN_ATTEMPTS):
            for _ in _polls(_RESEND_S):
                rows = self._project.client.spans(self._project.name, trace_ids=[last.trace.target.trace_id])
                if any(row["context"]["span_id"] == wanted for row in rows):
                    return True
            for results in self._ahead:
                call_with_retries(partial(self._writer.write_spans, results), self._retry)
        return False

    def _confirm(self) -> None:
        """Waits until the annotations that were sent first are stored."""
        results: Sequence[EvaluatedTrace] = self._unconfirmed.popleft()
        give_up = time.monotonic() + self._patience_s
        while True:
            for _ in _polls(_RESEND_S):
                results = self._not_stored(results)
                if not results:
                    return
            if time.monotonic() > give_up:
                logger.warning("rag-otel: %d results were sent but are not stored in Phoenix", len(results))
                return
            call_with_retries(partial(self._writer.write, results), self._retry)

    def _not_stored(self, results: Sequence[EvaluatedTrace]) -> list[EvaluatedTrace]:
        current = self._current([result.trace.target.span_id for result in results])
        return [
            result
            for result in results
            if any((result.trace.target.span_id, each.name) not in current for each in result.evaluations)
        ]

    def skip(self, traces: Sequence[RagTrace]) -> None:
        """Does nothing, because a trace that cannot be evaluated gets no annotation."""


def _scored(evaluator: Evaluator, metadata: Mapping[str, Any]) -> bool:
    return "error_type" not in metadata and is_current(evaluator, metadata)


def _polls(seconds: float) -> Iterator[None]:
    """Yields at once, then after pauses that grow with the time that has passed, for so many seconds."""
    started = time.monotonic()
    yield
    while (passed := time.monotonic() - started) < seconds:
        time.sleep(min(max(_POLL_S, passed / 4), _MAX_POLL_S))
        yield
