"""Phoenix annotations. Phoenix shows them as columns, filters and charts over time.

They are written with the asynchronous form of Phoenix's REST API (`sync=false`). It accepts an annotation before its
span has arrived and attaches it later. Until then Phoenix keeps it only in memory, looks for the span every ten
seconds, and gives up after ten minutes. So annotations are sent a few seconds after their spans.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from rag_otel.delivery.export_queue import ExportPolicy
from rag_otel.model import EvaluatedTrace, Evaluation, RagTrace, SpanRef
from rag_otel.ratings.rating import RESERVED_NAMES
from rag_otel.writers.annotations import IDENTIFIER, Annotation, annotation_of, annotator_kind
from rag_otel.writers.attributes import hidden_content, present
from rag_otel.writers.phoenix_api import PhoenixApi
from rag_otel.writers.phoenix_configurations import LABEL_SCORES, PhoenixConfigurations

SCORE: Final = "score"
"""In the metadata: the score itself, the share of supported claims, and the risk."""
RISK: Final = "risk"


class PhoenixAnnotationWriter:
    """Writes one annotation for each metric, on spans and traces, and the scores of chunks as annotations of documents.

    Phoenix is told once what the names mean, so that it shows bad scores in red: see `PhoenixConfigurations`.
    """

    name = "phoenix_annotations"
    export_policy = ExportPolicy(linger_s=6.0)
    """The batching delay. It is longer than the default delay of span processors (five seconds), so that Phoenix has
    the spans first."""
    keeps_results = True
    """If results are kept across restarts, results that Phoenix has not accepted are kept."""

    def __init__(
        self,
        endpoint: str,
        *,
        api_key: str | None = None,
        headers: Mapping[str, str] | None = None,
        capture_content: bool = True,
        timeout_s: float = 10.0,
    ) -> None:
        """Arguments as of `PhoenixApi`. Without `capture_content` texts of the trace are not written."""
        self._api = PhoenixApi(endpoint, api_key=api_key, headers=headers, timeout_s=timeout_s)
        self._capture_content = capture_content
        self._configurations = PhoenixConfigurations(self._api)

    def write(self, batch: Sequence[EvaluatedTrace]) -> None:
        """Sends the batch in at most three requests. Raises RetryableError or PermanentError, see `http.post`."""
        made = [(result.trace, evaluation, item) for result in batch for evaluation, item in self._items(result)]
        self._api.annotate("span", [row for trace, _, item in made for row in _span_rows(trace, item)])
        self._api.annotate("trace", [_trace_row(trace, item) for trace, _, item in made])
        self._api.annotate("document", [row for result in batch for row in _document_rows(result)])
        scored = [(trace, evaluation, item.name) for trace, evaluation, item in made if item.score is not None]
        names = {name: evaluation for _, evaluation, name in scored}
        names |= {root_name(name): evaluation for trace, evaluation, name in scored if trace.root is not None}
        self._configurations.ensure(batch, names)

    def _items(self, result: EvaluatedTrace) -> Iterator[tuple[Evaluation, Annotation]]:
        """Each evaluation that says something, with its annotation."""
        hidden = hidden_content(result, capture_content=self._capture_content)
        for evaluation in result.evaluations:
            item = annotation_of(evaluation, result.decision, hidden)
            if item is not None and item.name not in RESERVED_NAMES:
                metadata = {**item.metadata, **present({SCORE: evaluation.score, RISK: evaluation.risk})}
                yield evaluation, replace(item, score=_shown_score(evaluation), metadata=metadata)


def root_name(name: str) -> str:
    """The name of a score on the root span of its trace: `rag_faithfulness`.

    Phoenix lists root spans by default, so the score must be there too. The metric's name would count the score twice
    in Phoenix's means.
    """
    return f"rag_{name}"


def _span_rows(trace: RagTrace, item: Annotation) -> Iterator[dict[str, Any]]:
    """The annotation of the target under the metric's name, and of the root span under the name `root_name`."""
    yield item.row(span_id=trace.target.span_id)
    if trace.root is not None:
        at_root = replace(item, name=root_name(item.name), identifier=_of_target(trace.target))
        yield at_root.row(span_id=trace.root.span_id)


def _trace_row(trace: RagTrace, item: Annotation) -> dict[str, Any]:
    """The annotation of the trace. Each answer in a trace has its own, and Phoenix shows their mean."""
    return replace(item, identifier=_of_target(trace.target)).row(trace_id=trace.target.trace_id)


def _of_target(target: SpanRef) -> str:
    return f"{IDENTIFIER}:{target.span_id}"


def _shown_score(evaluation: Evaluation) -> float | None:
    """None for an answer whose label is open, because not all of it could be judged."""
    if evaluation.label is None and evaluation.risk is not None:
        return None
    return LABEL_SCORES.get(evaluation.label or "", evaluation.score)


def _document_rows(result: EvaluatedTrace) -> Iterator[dict[str, Any]]:
    """Scores of chunks as annotations of documents, if one span holds exactly these chunks. Phoenix rejects the whole
    batch if a span has no document at the position, or if a row has an identifier. It identifies a document annotation
    by span, name and position."""
    span = result.trace.chunk_span
    if span is None:
        return
    for evaluation in result.evaluations:
        for chunk, score in zip(result.trace.chunks, evaluation.chunk_scores, strict=False):
            if score is not None and evaluation.name not in RESERVED_NAMES:
                item = Annotation(
                    name=evaluation.name,
                    annotator_kind=annotator_kind(evaluation.judge),
                    score=score,
                    metadata=present({"version": evaluation.version, "judge": evaluation.judge}),
                    identifier=None,
                )
                yield item.row(span_id=span.span_id, document_position=chunk.position)
