"""Phoenix as the store of a backfill: reads traces with the REST API and writes scores as annotations.

The metadata of an annotation contains the evaluator version and the judge. So an interrupted run can find in Phoenix
which traces are done, and needs no other record.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from rag_otel.delivery.retry import patiently
from rag_otel.model import EvaluatedTrace, RagTrace
from rag_otel.protocols import Evaluator, Writer
from rag_otel.safety.guard import logger
from rag_otel.writers.feedback import IDENTIFIER
from rag_otel_collectors.backfill.engine import Spans, is_current
from rag_otel_collectors.stored.phoenix_client import PhoenixClient, patient_policy
from rag_otel_collectors.stored.phoenix_spans import stored_traces

_POLL_S: Final = 0.05
_MAX_POLL_S: Final = 2.0
_RESEND_S: Final = 30.0
PATIENCE_S: Final = 300.0
"""A run ends with an error after Phoenix has been unavailable for this time."""


class PhoenixStore:
    """The traces of one project that started between two times."""

    def __init__(
        self,
        client: PhoenixClient,
        writer: Writer,
        evaluators: Sequence[Evaluator],
        *,
        project: str,
        since: datetime | None,
        until: datetime | None,
        patience_s: float = PATIENCE_S,
    ) -> None:
        self._client = client.with_patience(patience_s)
        self._writer = writer
        self._evaluators = evaluators
        self._project = project
        self._since = since
        self._until = until
        self._patience_s = patience_s
        self._retry = patient_policy(patience_s)
        self._unconfirmed: Sequence[EvaluatedTrace] = ()

    def batches(self) -> Iterator[list[Spans]]:
        for traces in stored_traces(self._client, self._project, since=self._since, until=self._until):
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
        rows = self._client.annotations(self._project, span_ids, names=wanted) if span_ids else []
        return {
            (row["span_id"], row["name"])
            for row in rows
            if row["identifier"] == IDENTIFIER and _scored(wanted[row["name"]], row["metadata"] or {})
        }

    def write(self, results: Sequence[EvaluatedTrace]) -> None:
        """Sends results to Phoenix, which queues them. The synchronous form of the API takes five times as long."""
        self.settle()
        self._send(results)
        self._unconfirmed = results

    def _send(self, results: Sequence[EvaluatedTrace]) -> None:
        patiently(lambda: self._writer.write(results), self._retry)

    def settle(self) -> None:
        """Waits until Phoenix has stored the last results. Sends them again if they do not appear, because a restart of
        Phoenix loses its queue.

        Results that do not appear in time (for example, if their span was deleted) are left to the next run, with a
        warning.
        """
        results, self._unconfirmed = self._unconfirmed, ()
        now = time.monotonic()
        give_up, again, wait_s = now + self._patience_s, now + _RESEND_S, _POLL_S
        while results := self._not_stored(results):
            now = time.monotonic()
            if now > give_up:
                logger.warning("rag-otel: %d results were sent but are not stored in Phoenix", len(results))
                return
            if now > again:
                self._send(results)
                again = now + _RESEND_S
            time.sleep(wait_s)
            wait_s = min(wait_s * 2, _MAX_POLL_S)

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
