"""The standard event `gen_ai.evaluation.result`, one for each named score, emitted with OpenTelemetry's Logs API.

Source: OpenTelemetry semantic conventions, gen-ai/gen-ai-events.md, "Event: gen_ai.evaluation.result". The event
belongs to the evaluated span, so its record carries that span's ids.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from opentelemetry._logs import Logger, SeverityNumber

from rag_otel import semconv
from rag_otel.model import AttributeValue, EvaluatedTrace
from rag_otel.telemetry.writer import span_context
from rag_otel.writers.attributes import present
from rag_otel.writers.feedback import Feedback, feedback


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
        for result in batch:
            context = span_context(result.trace.target)
            for item in feedback(result, capture_content=self._capture_content):
                logger.emit(
                    event_name=semconv.GEN_AI_EVALUATION_EVENT,
                    timestamp=time.time_ns(),
                    context=context,
                    severity_number=SeverityNumber.INFO,
                    attributes=_attributes(item, result),
                )


def _attributes(item: Feedback, result: EvaluatedTrace) -> dict[str, AttributeValue]:
    return present(
        {
            semconv.GEN_AI_EVALUATION_NAME: item.name,
            semconv.GEN_AI_EVALUATION_SCORE: item.score,
            semconv.GEN_AI_EVALUATION_LABEL: item.label,
            semconv.GEN_AI_EVALUATION_EXPLANATION: item.explanation,
            semconv.GEN_AI_RESPONSE_ID: result.trace.response_id,
            semconv.ERROR_TYPE: item.metadata.get("error_type"),
            semconv.SAMPLING_REASON: result.decision.reason,
            semconv.SAMPLING_PROBABILITY: result.decision.probability,
        }
    )
