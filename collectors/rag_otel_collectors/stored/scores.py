"""Reads stored scores for `rag-otel drift`, from JSON Lines, CSV, OTLP/JSON files or Phoenix."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import chain
from typing import Any, Final

from rag_otel import semconv
from rag_otel.drift.observation import RISK, SCORE, UNJUDGED, Answered, Observation, dimension_of, is_bad
from rag_otel.errors import InputError
from rag_otel.evaluation.directions import goodness
from rag_otel.evaluation.support import FAITHFULNESS
from rag_otel.formats.rows import placed_rows
from rag_otel.model import OUTSIDE_SAMPLE, RagTrace, SpanRecord, SpanRef
from rag_otel.ratings.words import share
from rag_otel_collectors.conventions import default_conventions
from rag_otel_collectors.conventions.reading.mixed_dialects import is_evaluator
from rag_otel_collectors.stored.annotated_spans import annotated_traces, annotations_by_span, judged_by_other
from rag_otel_collectors.stored.assembly import TraceAssembler
from rag_otel_collectors.stored.otlp_files import OTLP_JSON, spans_of
from rag_otel_collectors.stored.project import StoredProject
from rag_otel_collectors.stored.results import AnnotationRow, Fields, stored_fields

JUDGE: Final = "judge"
"""Dimension of the scores of other judges."""
_TIMES: Final = ("time", "timestamp", "start_time")
_DETAIL: Final = "_detail"
_NS: Final = 1_000_000_000
_KEY: Final = f"{semconv.EVALUATION}."
_PROBABILITY: Final = (semconv.SAMPLING_PROBABILITY, "sampling_probability", "probability")


def from_files(files: Sequence[str], dimensions: Sequence[str]) -> list[Observation]:
    """Returns the scores in the files, in order of time. Raises InputError.

    A line is OTLP/JSON with `rag.evaluation.*` attributes, or a row. A row has `score` and `risk` (of faithfulness),
    `<metric>_detail` as `rag-otel evaluate` writes it, or flat `rag.evaluation.*` keys. It may also have `time` (ISO
    8601 or seconds since the epoch), `probability`, and a column for each of `dimensions`. Rows without a time are
    placed one second apart. A CSV or TSV file has such rows too.
    """
    found: list[Observation] = []
    assembler = TraceAssembler()
    for file in files:
        for number, (place, row) in enumerate(placed_rows(file, OTLP_JSON)):
            if isinstance(row, Mapping) and "resourceSpans" in row:
                complete = chain.from_iterable(assembler.add(span) for span in spans_of(row, place))
                found += chain.from_iterable(_of_trace(trace.spans, {}, dimensions) for trace in complete)
            else:
                found.append(_of_row(row, place, number, dimensions))
    found += chain.from_iterable(_of_trace(trace.spans, {}, dimensions) for trace in assembler.flush())
    return sorted(found, key=lambda each: each.time_s)


def from_phoenix(project: StoredProject, dimensions: Sequence[str]) -> Iterator[Observation]:
    """Yields the scores of a project, oldest first: from rag-otel's annotations, else from span attributes. Raises the
    errors of the client."""
    for batch in project.traces():
        by_span = annotations_by_span(project, batch)
        found = [each for trace in batch for each in _of_trace(trace.spans, by_span, dimensions)]
        yield from sorted(found, key=lambda each: each.time_s)


def from_other_judge(project: StoredProject, dimensions: Sequence[str], annotation: str) -> Iterator[Observation]:
    """Yields the scores that other judges annotated under this name, oldest first, each with a slice of its judge. How
    such a judge samples is unknown: every score counts once. Raises the errors of the client."""
    for batch in annotated_traces(project):
        found = []
        for trace, said in batch:
            read = _reader(trace.spans)
            answers = [each for each in trace.spans if not is_evaluator(each)]
            for span, result in judged_by_other(answers, said, annotation):
                values = [(f"{annotation}.{UNJUDGED}", 0.0 if result.risk is None else 1.0)]
                if result.risk is not None:
                    values.append((f"{annotation}.{SCORE}", 1.0 - result.risk))
                slices = (*_slices(read(span), dimensions), f"{JUDGE}={result.judge}")
                at = span.start_ns / _NS
                found.append(Observation(time_s=at, probability=1.0, slices=slices, values=tuple(values)))
        yield from sorted(found, key=lambda each: each.time_s)


def _reader(spans: Sequence[SpanRecord]) -> Callable[[SpanRecord], RagTrace]:
    """Returns a function from a span of a trace to its answer. The spans are read when the first one is asked for."""
    known: dict[SpanRef, RagTrace] | None = None

    def read(span: SpanRecord) -> RagTrace:
        nonlocal known
        if known is None:
            known = {found.target: found for each in default_conventions() for found in each.read(list(spans))}
        ref = SpanRef(trace_id=span.trace_id, span_id=span.span_id)
        service = span.resource.get(semconv.SERVICE_NAME)
        return known.get(ref) or RagTrace(target=ref, route=span.name, service=service)

    return read


def _slices(trace: RagTrace, dimensions: Sequence[str]) -> tuple[str, ...]:
    return tuple(f"{name}={value}" for name in dimensions if (value := dimension_of(trace, name)))


def _of_trace(
    spans: Sequence[SpanRecord], notes: Mapping[str, Sequence[AnnotationRow]], dimensions: Sequence[str]
) -> Iterator[Observation]:
    """Yields one observation for every scored span of a trace."""
    read = _reader(spans)
    for span in spans:
        if is_evaluator(span):
            continue
        results = stored_fields(span.attributes, notes.get(span.span_id, ()))
        values = _values(results)
        if not values or any(each.get("sampling_reason") in OUTSIDE_SAMPLE for each in results.values()):
            continue
        trace = read(span)
        explanations = {metric: str(each["explanation"]) for metric, each in results.items() if each.get("explanation")}
        question = trace.question or str(span.attributes.get(semconv.INPUT_VALUE) or "")
        yield Observation(
            time_s=span.start_ns / _NS,
            probability=min(map(_probability, results.values())),
            slices=_slices(trace, dimensions),
            values=tuple(values),
            bad=_bad(values, results),
            answer=Answered(
                trace_id=trace.target.trace_id, question=question, explanations=tuple(explanations.items())
            ),
        )


def _of_row(row: Any, place: str, number: int, dimensions: Sequence[str]) -> Observation:
    if not isinstance(row, Mapping):
        raise InputError(f"{place}: expected an object with scores, not {type(row).__name__}")
    attributes = dict(row)
    attributes |= {f"{_KEY}{FAITHFULNESS}.{field}": row[field] for field in (SCORE, RISK) if field in row}
    for key, value in row.items():
        if key.endswith(_DETAIL) and isinstance(value, Mapping):
            named = f"{_KEY}{key.removesuffix(_DETAIL)}."
            attributes |= {named + field: told for field, told in {SCORE: None, **value}.items()}
    results = stored_fields(attributes, ())
    values = _values(results)
    if not values:
        raise InputError(f"{place}: no score: expected `score`, `<metric>_detail` or `rag.evaluation.<metric>.score`")
    return Observation(
        time_s=_time(row, place, number),
        probability=_probability(row),
        slices=tuple(f"{name}={row[name]}" for name in dimensions if row.get(name) not in (None, "")),
        values=tuple(values),
        bad=_bad(values, results),
    )


def _values(results: Mapping[str, Fields]) -> list[tuple[str, float]]:
    """Returns (series, value) of every metric with a result. Values are 0..1, higher is better."""
    values = []
    for metric, fields in results.items():
        score, risk = share(fields.get(SCORE)), share(fields.get(RISK))
        if score is None and risk is None and SCORE not in fields and "reason_code" not in fields:
            continue
        claims = fields.get("claim_count")
        judged = 0.0 if score is None else 1.0
        if isinstance(claims, int) and claims > 0:
            judged = 1.0 - min(1.0, float(fields.get("unjudged_count") or 0) / claims)
        values.append((f"{metric}.{UNJUDGED}", judged))
        if score is not None:
            values.append((f"{metric}.{SCORE}", goodness(metric, score)))
        if risk is not None:
            values.append((f"{metric}.{RISK}", 1.0 - risk))
    return values


def _bad(values: Iterable[tuple[str, float]], results: Mapping[str, Fields]) -> tuple[str, ...]:
    """The series that say that the answer is bad: see `Observation.bad`."""
    labels = {name: results[name.rpartition(".")[0]].get("label") for name, _ in values}
    return tuple(name for name, value in values if is_bad(name, value, labels[name]))


def _probability(fields: Mapping[str, Any]) -> float:
    given = next((fields[key] for key in _PROBABILITY if fields.get(key) is not None), 1.0)
    return float(given) if isinstance(given, int | float) and 0.0 < given <= 1.0 else 1.0


def _time(row: Mapping[str, Any], place: str, number: int) -> float:
    given = next((row[name] for name in _TIMES if row.get(name) is not None), None)
    if given is None:
        return float(number)
    try:
        if isinstance(given, int | float):
            at = float(given)
            return at / _NS if at > 1e16 else at
        moment = datetime.fromisoformat(str(given))
    except ValueError:
        raise InputError(f"{place}: {given!r} is not a time: write ISO 8601 or seconds since the epoch") from None
    at = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    return at if math.isfinite(at) else float(number)


def metrics_of(observations: Iterable[Observation]) -> int:
    """The number of metrics among the observations, at least 1. They share the budget of false alarms."""
    return max(1, len({name.rpartition(".")[0] for each in observations for name, _ in each.values}))
