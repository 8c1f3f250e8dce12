"""The standard event `gen_ai.evaluation.result`, one for each named score, emitted with OpenTelemetry's Logs API.

Source: OpenTelemetry GenAI semantic conventions, docs/gen-ai/gen-ai-events.md, "Event: gen_ai.evaluation.result". The
event belongs to the evaluated span, so its record carries that span's ids. The conventions have no names yet for what
was evaluated and by which evaluator. Those attributes, the body and the severity of a failure are as pydantic-evals
writes them, because Logfire's live monitoring reads them.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from opentelemetry._logs import Logger, LoggerProvider, SeverityNumber, get_logger, get_logger_provider

from rag_otel import semconv
from rag_otel.model import AttributeValue, EvaluatedTrace
from rag_otel.safety.tracing_suppression import unsuppressed
from rag_otel.telemetry.writer import does_nothing, span_context
from rag_otel.writers.annotations import Annotation, AnnotatorKind, annotations_of
from rag_otel.writers.attributes import present

_EVALUATOR_TYPES: Final[Mapping[AnnotatorKind, str]] = {"LLM": "llm_judge", "CODE": "deterministic"}


class EvaluationEventWriter:
    """Emits the scores of results, and failures with their `error.type`, as events of their spans."""

    name = "evaluation_event"

    def __init__(self, logger: Callable[[], Logger | None], *, capture_content: bool = True) -> None:
        """`logger` is called for each batch, because the application may set its provider later. If it returns None,
        no events are emitted. If content is hidden, an explanation only counts claims."""
        self._logger = logger
        self._capture_content = capture_content

    def write(self, batch: Sequence[EvaluatedTrace]) -> None:
        logger = self._logger()
        if logger is None:
            return
        with unsuppressed():
            self._emit(batch, logger)

    def _emit(self, batch: Sequence[EvaluatedTrace], logger: Logger) -> None:
        for result in batch:
            context = span_context(result.trace.target)
            for item in annotations_of(result, capture_content=self._capture_content):
                failed = "error_type" in item.metadata
                logger.emit(
                    event_name=semconv.GEN_AI_EVALUATION_EVENT,
                    timestamp=time.time_ns(),
                    context=context,
                    severity_number=SeverityNumber.WARN if failed else SeverityNumber.INFO,
                    severity_text="WARN" if failed else "INFO",
                    body=_body(item, failed=failed),
                    attributes=_attributes(item, result),
                )


def application_logger(provider: LoggerProvider | None) -> Callable[[], Logger | None]:
    """What gives the logger of the application's provider, as `application_instruments` gives the instruments."""

    def logger() -> Logger | None:
        if provider is None and does_nothing(get_logger_provider()):
            return None
        return get_logger(semconv.SCOPE, logger_provider=provider, schema_url=semconv.GEN_AI_SCHEMA_URL)

    return logger


def _body(item: Annotation, *, failed: bool) -> str:
    """One line for a list of logs: `evaluation: faithfulness=0.33`."""
    if failed:
        return f"evaluation: {item.name} failed: {item.label}"
    return f"evaluation: {item.name}={item.label if item.score is None else f'{item.score:.3g}'}"


def _attributes(item: Annotation, result: EvaluatedTrace) -> dict[str, AttributeValue]:
    trace = result.trace
    return present(
        {
            semconv.GEN_AI_EVALUATION_NAME: item.name,
            semconv.GEN_AI_EVALUATION_SCORE: item.score,
            semconv.GEN_AI_EVALUATION_LABEL: item.label,
            semconv.GEN_AI_EVALUATION_EXPLANATION: item.explanation,
            semconv.GEN_AI_EVALUATION_TARGET: trace.route or trace.service,
            semconv.GEN_AI_EVALUATOR_ID: _evaluator_id(item),
            semconv.GEN_AI_EVALUATOR_VERSION: item.metadata.get("version"),
            semconv.GEN_AI_EVALUATOR_TYPE: _EVALUATOR_TYPES[item.annotator_kind],
            semconv.GEN_AI_EVALUATOR_SOURCE: _source(item),
            semconv.GEN_AI_RESPONSE_ID: trace.response_id,
            semconv.GEN_AI_CONVERSATION_ID: trace.session_id,
            semconv.ERROR_TYPE: item.metadata.get("error_type"),
            semconv.SAMPLING_REASON: result.decision.reason,
            semconv.SAMPLING_PROBABILITY: result.decision.probability,
        }
    )


def _evaluator_id(item: Annotation) -> str | None:
    """The evaluator and its judge, `Faithfulness/embedded`: scores of different judges are not comparable."""
    parts = (item.metadata.get("evaluator"), item.metadata.get("judge"))
    return "/".join(str(part) for part in parts if part) or None


def _source(item: Annotation) -> str | None:
    """The evaluator and its arguments, as JSON."""
    name = item.metadata.get("evaluator")
    if not name:
        return None
    arguments = {key: item.metadata[key] for key in ("judge", "prompts") if item.metadata.get(key)}
    return json.dumps({"name": name, "arguments": arguments or None})
