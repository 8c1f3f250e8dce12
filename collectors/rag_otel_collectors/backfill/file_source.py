"""OTLP/JSON files as the store of a backfill: reads traces from files and writes a copy of the files with the scores.

The spans of a trace may be anywhere in the files, so the files are read twice: once to evaluate and once to copy. In
between, results are kept in a journal next to the output (SQLite, `<output>.partial`). An interrupted run continues
with its journal. After a finished run, the scores in the output count as done.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, Final

from rag_otel import semconv
from rag_otel.errors import ConfigurationError
from rag_otel.formats.rows import STDIN
from rag_otel.model import EvaluatedTrace, EvaluationStatus, RagTrace, ReasonCode, SpanRecord, SpanRef
from rag_otel.protocols import Evaluator
from rag_otel.writers.attributes import evaluation_attributes, status_attributes
from rag_otel_collectors.backfill.engine import Spans, is_current
from rag_otel_collectors.stored.assembly import TraceAssembler
from rag_otel_collectors.stored.enriched_files import write_enriched
from rag_otel_collectors.stored.otlp_files import read_spans

OURS: Final = (f"{semconv.EVALUATION}.", "rag.sampling.")
"""Prefixes of the attributes that an evaluation writes on a span."""
_BATCH: Final = 100
_HELD_BYTES: Final = 128 * 2**20
"""Maximum text of spans in memory whose traces may still be incomplete."""
_HELD_SPANS: Final = 200_000
_FAILURES: Final = (ReasonCode.JUDGE_ERROR, ReasonCode.TIMEOUT)


class FileStore:
    """Input files and their output. `finish` writes the output at the end. `close` keeps the journal for the next
    run."""

    def __init__(
        self,
        files: Sequence[str],
        output: Path,
        evaluators: Sequence[Evaluator],
        *,
        capture_content: bool,
        dry_run: bool = False,
    ) -> None:
        """Without `capture_content` no text is written on spans.

        Raises ConfigurationError if the files cannot be used, InputError if an existing output is not OTLP.
        """
        if STDIN in files:
            raise ConfigurationError("standard input cannot be read twice: name a file")
        self._files = files
        self._output = output
        self._evaluators = evaluators
        self._capture_content = capture_content
        self._journal_path = output.with_name(f"{output.name}.partial")
        self.cut = 0
        """Traces that were evaluated before the end of the files, because too many were incomplete at once."""
        in_memory = dry_run and not self._journal_path.exists()
        try:
            self._journal = sqlite3.connect("" if in_memory else self._journal_path, check_same_thread=False)
            self._journal.execute(
                "CREATE TABLE IF NOT EXISTS spans (id TEXT PRIMARY KEY, attributes TEXT, fresh INTEGER)"
            )
        except sqlite3.Error as error:
            raise ConfigurationError(f"{self._journal_path} cannot be used: {error}") from None
        if output.exists():
            self._take_over_output()

    def _take_over_output(self) -> None:
        for span in read_spans(str(self._output)):
            self._take_over(span)
        self._journal.commit()

    def _take_over(self, span: SpanRecord) -> None:
        """Copies the evaluation attributes of a span to the journal. They count as done."""
        if semconv.STATUS in span.attributes:
            ours = {key: value for key, value in span.attributes.items() if key.startswith(OURS)}
            self._keep(SpanRef(trace_id=span.trace_id, span_id=span.span_id), ours, fresh=False)

    def batches(self) -> Iterator[list[Spans]]:
        assembler = TraceAssembler(max_spans=_HELD_SPANS, max_bytes=_HELD_BYTES)
        batch: list[Spans] = []
        for trace in assembler.assembled(self._spans()):
            self.cut += trace.cut
            batch.append(trace.spans)
            if len(batch) >= _BATCH:
                yield batch
                batch = []
        if batch:
            yield batch

    def _spans(self) -> Iterator[SpanRecord]:
        for span in chain.from_iterable(read_spans(file) for file in self._files):
            self._take_over(span)
            yield span

    def missing(self, traces: Sequence[RagTrace]) -> list[tuple[str, ...]]:
        return [self._missing(trace) for trace in traces]

    def _missing(self, trace: RagTrace) -> tuple[str, ...]:
        stored = self._stored(trace.target) or {}
        return tuple(each.name for each in self._evaluators if not _scored(each, stored))

    def write(self, results: Sequence[EvaluatedTrace]) -> None:
        for result in results:
            again = tuple(f"{semconv.EVALUATION}.{each.name}." for each in result.evaluations)
            stored = self._stored(result.trace.target) or {}
            kept = {key: value for key, value in stored.items() if not key.startswith(again)}
            written = evaluation_attributes(result, capture_content=self._capture_content)
            self._keep(result.trace.target, kept | written, fresh=True)
        self._journal.commit()

    def settle(self) -> None:
        """Does nothing, because `write` commits to the journal."""

    def skip(self, traces: Sequence[RagTrace]) -> None:
        for trace in traces:
            if self._stored(trace.target) is None:
                reason = str(trace.unevaluable_reason)
                self._keep(trace.target, status_attributes(EvaluationStatus.SKIPPED, reason), fresh=True)
        self._journal.commit()

    def finish(self) -> int:
        """Writes the output if there are new results, and deletes the journal. Returns the number of changed spans."""
        fresh = self._journal.execute("SELECT count(*) FROM spans WHERE fresh").fetchone()[0]
        if fresh or not self._output.exists():
            write_enriched(self._files, self._output, self._change, replaced=OURS)
        self._journal.close()
        self._journal_path.unlink(missing_ok=True)
        return int(fresh)

    def close(self) -> None:
        """Closes the journal and keeps it for the next run."""
        self._journal.close()

    def _change(self, trace_id: str, span_id: str) -> dict[str, Any] | None:
        return self._stored(SpanRef(trace_id=trace_id, span_id=span_id))

    def _stored(self, span: SpanRef) -> dict[str, Any] | None:
        row = self._journal.execute("SELECT attributes FROM spans WHERE id = ?", (_key(span),)).fetchone()
        return None if row is None else json.loads(row[0])

    def _keep(self, span: SpanRef, attributes: Mapping[str, Any], *, fresh: bool) -> None:
        """Writes attributes to the journal. Those of this run (`fresh`) replace existing ones; others do not."""
        verb = "REPLACE" if fresh else "IGNORE"
        self._journal.execute(
            f"INSERT OR {verb} INTO spans VALUES (?, ?, ?)", (_key(span), json.dumps(dict(attributes)), fresh)
        )


def _key(span: SpanRef) -> str:
    return span.trace_id + span.span_id


def _scored(evaluator: Evaluator, attributes: Mapping[str, Any]) -> bool:
    """True if the span has a score by this evaluator. A failed evaluation does not count."""
    fields = {
        name: attributes.get(semconv.metric_key(evaluator.name, name))
        for name in ("version", "judge", "reason_code", "claim_count")
    }
    failed = fields["reason_code"] in _FAILURES and fields["claim_count"] is None
    return not failed and is_current(evaluator, fields)
