"""`rag-otel doctor`: sends one test trace and checks that it arrives in Phoenix with its scores.

The trace passes through the same parts as those of an application (decorator, processor, judge, exporter, annotations),
with the settings of this environment. The command stops at the first failure and prints the cause and the remedy.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import os
import platform
import uuid
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from opentelemetry import trace as trace_api
from opentelemetry.sdk.trace import TracerProvider

import rag_otel
from rag_otel import semconv
from rag_otel.cli.doctor_checks import (
    KAFKA,
    CheckFailed,
    kafka_has_the_topic,
    phoenix_accepts_the_key,
    phoenix_responds,
    queue_answers,
)
from rag_otel.cli.options import phoenix_options
from rag_otel.cli.phoenix_project import once_stored
from rag_otel.cli.terminal import table
from rag_otel.delivery.http import to_json
from rag_otel.errors import RagOtelError
from rag_otel.model import EvaluatedTrace, EvaluationStatus
from rag_otel.processing import provider
from rag_otel.safety.guard import counters
from rag_otel.safety.redaction import MASK, redacted_text, remember
from rag_otel.sampling.amount import RatioSampler
from rag_otel.settings import ResolvedSettings, resolve
from rag_otel.settings.rows import secrets_of
from rag_otel.writers.memory import MemoryWriter
from rag_otel_collectors.stored.phoenix_client import PhoenixClient

CHUNK: Final = "The lighthouse of Kap Arkona was built in 1827 and is 19.3 metres high."
QUESTION: Final = "When was the lighthouse of Kap Arkona built?"
ANSWER: Final = "The lighthouse of Kap Arkona was built in 1827."
_SCORE: Final = semconv.metric_key("faithfulness", "score")
_OTHER_PREFIXES: Final = ("OTEL_", "PHOENIX_", "OPENINFERENCE_")
_SECRETS: Final = ("KEY", "SECRET", "TOKEN", "HEADERS", "PASSWORD")


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--timeout", type=float, default=30.0, help="seconds to wait for the trace (default: 30)")
    parser.add_argument("--all", action="store_true", help="print every setting, not only those that are set")
    parser.add_argument("--keep", action="store_true", help="leave the trace that was sent in Phoenix")
    phoenix_options(parser, times=False)


def run(arguments: argparse.Namespace) -> int:
    """Prints the configuration, then the result of each check. Returns 0 if all succeeded, else 1."""
    overrides = {"phoenix_endpoint": arguments.phoenix_endpoint, "project_name": arguments.project}
    resolved = resolve(overrides)
    remember(secrets_of(resolved.settings))
    print("Configuration (arguments override the environment, which overrides the defaults)")
    rows = [row for row in resolved.rows() if arguments.all or row[2] != "default"]
    print(table(rows, header=("setting", "value", "origin")) if rows else "  nothing is set")
    if not arguments.all:
        print(f"  and {len(resolved.rows()) - len(rows)} settings with their defaults (--all)")
    if others := _other_variables(os.environ):
        print("\nEnvironment variables of OpenTelemetry, Phoenix and OpenInference")
        print(table(others, header=("variable", "value")))
    print("\nChecks")
    try:
        for found in _checks(resolved, overrides, arguments.timeout, keep=arguments.keep):
            print(f"  ok    {redacted_text(found)}", flush=True)
    except CheckFailed as failed:
        print(f"  FAIL  {redacted_text(failed.text)}\n        {redacted_text(failed.remedy)}")
        return 1
    return 0


def _checks(resolved: ResolvedSettings, overrides: dict[str, Any], timeout_s: float, *, keep: bool) -> Iterator[str]:
    """Yields what was found, check by check. Raises CheckFailed."""
    settings = resolved.settings
    names = ("rag-otel", "opentelemetry-sdk", "arize-phoenix", "litellm")
    installed = [f"{name} {found}" for name in names if (found := _version(name))]
    yield f"Python {platform.python_version()}, {', '.join(installed)}"
    if not settings.enabled:
        raise CheckFailed("rag-otel is switched off", "Unset RAG_OTEL_ENABLED, or set it to true.")
    reader = None
    if settings.phoenix_endpoint:
        reader = PhoenixClient(settings.phoenix_endpoint, api_key=settings.phoenix_api_key)
        yield phoenix_responds(reader, settings.phoenix_endpoint)
        yield phoenix_accepts_the_key(reader)
    elif not any(name.startswith("OTEL_EXPORTER_OTLP") and "ENDPOINT" in name for name in os.environ):
        raise CheckFailed(
            "no backend is configured: spans would be evaluated but not exported",
            "Set RAG_OTEL_PHOENIX_ENDPOINT=http://localhost:6006, or OTEL_EXPORTER_OTLP_ENDPOINT.",
        )
    if os.environ.get(KAFKA):
        yield kafka_has_the_topic(timeout_s)
    by_workers = settings.judge.job_queue_url is not None
    if by_workers:
        yield queue_answers(settings)
    collected = MemoryWriter()
    tracer_provider = provider.make(settings)
    rag_otel.instrument(tracer_provider, sampling_policy=RatioSampler(1.0), writers=[collected], **overrides)
    try:
        context = _send(uuid.uuid4().hex)
        flushed = rag_otel.flush(timeout=timeout_s) and tracer_provider.force_flush(int(timeout_s * 1000))
        yield _published(flushed) if by_workers else _evaluated(collected.results, flushed)
        if reader is None:
            yield "exported over OTLP; check in your backend that it arrived"
            return
        project = settings.project_name or _project_of(tracer_provider)
        yield from _found(reader, project, context, timeout_s, settings.spans.annotations, by_workers=by_workers)
        yield _left_behind(reader, context, keep=keep)
    finally:
        rag_otel.uninstrument()


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def _send(marker: str) -> trace_api.SpanContext:
    """Makes one observed call. A marker distinguishes its span from other traffic."""
    contexts: list[trace_api.SpanContext] = []

    @rag_otel.observe(name="rag-otel doctor")
    def ask(question: str) -> dict[str, object]:
        span = trace_api.get_current_span()
        span.set_attribute(semconv.MARKER, marker)
        contexts.append(span.get_span_context())
        return {"answer": ANSWER, "chunks": [{"id": "arkona", "text": CHUNK}]}

    ask(QUESTION)
    return contexts[0]


def _published(flushed: bool) -> str:
    """The test trace is a job, once the broker has stored it."""
    if not flushed:
        raise CheckFailed("the trace was not published in time", "Raise --timeout, or look at the log.")
    return "the trace was published as a job"


def _evaluated(results: Sequence[EvaluatedTrace], flushed: bool) -> str:
    if not results:
        counts = {name: count for name, count in counters.snapshot().items() if count}
        raise CheckFailed(
            "the trace was not evaluated" + ("" if flushed else " in time"),
            f"Raise --timeout, or look at the log; counters: {to_json(counts).decode()}",
        )
    evaluation = results[0].evaluations[0]
    if evaluation.error_type is not None:
        failed = f"{evaluation.name} failed: {evaluation.error_type}: {evaluation.explanation}"
        raise CheckFailed(failed, "Check the judge's address, key and model.")
    return (
        f"evaluated by {evaluation.judge} in {evaluation.duration_s * 1000:.0f} ms: "
        f"{evaluation.name} {_figure(evaluation.score)}, risk {_figure(evaluation.risk)}, {evaluation.label}"
    )


def _figure(value: float | None) -> str:
    return "none" if value is None else f"{value:.2f}"


def _project_of(tracer_provider: TracerProvider) -> str:
    return str(tracer_provider.resource.attributes.get(semconv.PROJECT_NAME, "default"))


def _found(
    reader: PhoenixClient,
    project: str,
    context: trace_api.SpanContext,
    timeout_s: float,
    annotations: bool,
    *,
    by_workers: bool,
) -> Iterator[str]:
    trace_id, span_id = f"{context.trace_id:032x}", f"{context.span_id:016x}"
    # The trace has evaluation spans too, and they may come first.
    spans = once_stored(
        lambda: [row for row in reader.spans(project, trace_ids=[trace_id]) if row["context"]["span_id"] == span_id],
        timeout_s,
    )
    if not spans:
        raise CheckFailed(
            f"trace {trace_id} did not arrive in project {project!r} within {timeout_s:g} s",
            "Check that the exporter sends to this Phoenix. Look for errors above and in Phoenix's log.",
        )
    status = spans[0]["attributes"].get(semconv.STATUS)
    found = f"found in project {project!r}: status {status}, score {spans[0]['attributes'].get(_SCORE)}"
    if status != (EvaluationStatus.LATE if by_workers else EvaluationStatus.EVALUATED):
        raise CheckFailed(
            found,
            "The span was exported before it had scores: raise RAG_OTEL_HOLD, or find out why the judge is slow."
            if status
            else "The span has no scores: another tracer provider exported it. Call rag_otel.instrument() last.",
        )
    yield found
    if not annotations:
        return
    names = sorted(row["name"] for row in once_stored(lambda: reader.annotations(project, [span_id]), timeout_s) or ())
    if not names:
        raise CheckFailed(
            "annotations: none",
            "No worker has evaluated the job: start `rag-otel work` with this Phoenix, or raise --timeout."
            if by_workers
            else "Phoenix accepted the span but not the annotations: look at the log of logger `rag_otel`.",
        )
    yield f"annotations: {', '.join(names)}"


def _left_behind(reader: PhoenixClient, context: trace_api.SpanContext, *, keep: bool) -> str:
    """The trace is taken away: it would count in the project's averages."""
    trace_id = f"{context.trace_id:032x}"
    kept = f"trace {trace_id} stays in Phoenix; its span is called 'rag-otel doctor' and has {semconv.MARKER}"
    if keep:
        return kept
    try:
        reader.delete_trace(trace_id)
    except RagOtelError as error:
        return f"{kept} (it cannot be removed: {error})"
    return "the trace was removed from Phoenix again (--keep leaves it)"


def _other_variables(environ: Mapping[str, str]) -> list[tuple[str, str]]:
    names = sorted(name for name in environ if name.startswith(_OTHER_PREFIXES))
    return [(name, MASK if any(part in name for part in _SECRETS) else redacted_text(environ[name])) for name in names]
