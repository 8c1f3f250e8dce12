"""Users' ratings as annotations of the kind HUMAN, of the trace or of the span that the application names; or as spans.

What leaves the process is masked, and the user is a pseudonym. The same user's rating of the same answer replaces the
earlier one, which has the same name and identifier.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan

from rag_otel import semconv
from rag_otel.delivery.export_queue import ExportPolicy
from rag_otel.ratings.rating import IDENTIFIER, Rating
from rag_otel.ratings.words import rating_of
from rag_otel.safety.masking import CLASSES, Placeholders
from rag_otel.safety.privacy import content_hidden
from rag_otel.writers.annotations import Annotation
from rag_otel.writers.attributes import present
from rag_otel.writers.evaluation_span import made_span, span_id_of
from rag_otel.writers.phoenix_api import PhoenixApi

TRACE_WAS: Final = "trace_was"
"""In the metadata: what had become of the trace, a `FeedbackStatus`."""


class RatingAnnotationWriter:
    """Sends ratings to Phoenix."""

    name = "feedback"
    export_policy = ExportPolicy(linger_s=6.0, max_items=1024, max_bytes=4 * 2**20)
    """As for results: Phoenix is to have the span first."""

    def __init__(
        self,
        endpoint: str,
        *,
        api_key: str | None = None,
        capture_content: bool = True,
        user_key: str | None = None,
        timeout_s: float = 10.0,
    ) -> None:
        """`endpoint` is Phoenix's address. Without `capture_content` users' own words are not written. `user_key`: see
        `identifier`."""
        self._api = PhoenixApi(endpoint, api_key=api_key, timeout_s=timeout_s)
        self._capture_content = capture_content
        self._user_key = user_key

    def write(self, batch: Sequence[Rating]) -> None:
        """Sends the batch in at most two requests. Raises RetryableError or PermanentError, see `http.post`."""
        last = {(each.trace_id, each.span_id, each.name, each.user_id): each for each in batch}.values()
        rows = [
            rating_annotation(each, capture_content=self._capture_content, user_key=self._user_key).row(**_place(each))
            for each in last
        ]
        self._api.annotate("trace", [row for row in rows if "trace_id" in row])
        self._api.annotate("span", [row for row in rows if "span_id" in row])


class RatingSpanWriter:
    """Emits one span for each rating: in the rated trace, below the rated span where the application names it.

    For backends that take no annotations. OpenInference (spec/annotations.md, "Post-Hoc Feedback") asks for a new span
    of kind EVALUATOR that links its target. The same rating always has the same span id, so a backend that knows ids
    stores it once.
    """

    name = "feedback"
    export_policy = ExportPolicy(max_items=1024, max_bytes=4 * 2**20)

    def __init__(
        self,
        emit: Callable[[ReadableSpan], object],
        resource: Callable[[], Resource],
        *,
        capture_content: bool = True,
        user_key: str | None = None,
    ) -> None:
        """`emit` exports a span the way the application's spans go. The others: as for annotations."""
        self._user_key = user_key
        self._emit = emit
        self._resource = resource
        self._capture_content = capture_content

    def write(self, batch: Sequence[Rating]) -> None:
        for each in batch:
            self._emit(self.span(each))

    def span(self, rating: Rating) -> ReadableSpan:
        """The feedback span of a rating."""
        item = rating_annotation(rating, capture_content=self._capture_content, user_key=self._user_key)
        said = (rating.score, rating.label, rating.comment)
        return made_span(
            f"feedback {rating.name}",
            trace_id=rating.trace_id,
            span_id=span_id_of(*map(str, (rating.trace_id, rating.span_id, rating.name, item.identifier, *said))),
            below=rating.span_id,
            resource=self._resource(),
            attributes={
                semconv.SPAN_KIND: semconv.KIND_EVALUATOR,
                **present({semconv.FEEDBACK_RATING: rating.value, semconv.FEEDBACK_TRACE: rating.trace_was}),
                **replace(item, metadata={}).span_attributes(),
            },
            time_ns=rating.time_ns,
        )


def rating_annotation(rating: Rating, *, capture_content: bool, user_key: str | None) -> Annotation:
    """A rating as an annotation. Masking takes milliseconds: for the delivery thread."""
    score = rating.score if rating.score is not None else rating.value
    label = masked_label(rating, capture_content=capture_content)
    explanation = masked_comment(rating, capture_content=capture_content)
    if score is None and not label and not explanation:
        label = "commented"  # the words are hidden, and an annotation without any result says nothing
    return Annotation(
        name=rating.name,
        annotator_kind="HUMAN",
        score=score,
        label=label,
        explanation=explanation,
        metadata=present({TRACE_WAS: rating.trace_was}),
        identifier=identifier(rating, key=user_key),
    )


def _place(rating: Rating) -> dict[str, str]:
    return {"trace_id": rating.trace_id} if rating.span_id is None else {"span_id": rating.span_id}


def masked_comment(rating: Rating, *, capture_content: bool) -> str | None:
    """The comment with placeholders for credentials and personal data that is known by its form; None where content is
    hidden."""
    return None if rating.comment is None or _hidden(capture_content) else _masked(rating.comment)


def masked_label(rating: Rating, *, capture_content: bool) -> str | None:
    """The label in the same way. Where content is hidden, only a common word for good or bad remains."""
    if rating.label is None or (_hidden(capture_content) and rating_of(rating.label) is None):
        return None
    return _masked(rating.label)


def identifier(rating: Rating, *, key: str | None) -> str:
    """What tells the ratings of several users of one trace apart: an HMAC-SHA256 (RFC 2104) of the trace and the user's
    id, cut to 64 bits. So a user has another pseudonym in each trace. Without `key`, who guesses an id can check it."""
    if rating.user_id is None:
        return IDENTIFIER
    said = f"{rating.trace_id}\0{rating.user_id}"
    digest = hmac.new((key or "").encode("utf-8", "replace"), said.encode("utf-8", "replace"), hashlib.sha256)
    return f"{IDENTIFIER}:{digest.hexdigest()[:16]}"


def _hidden(capture_content: bool) -> bool:
    """A user's own words may quote the question, the answer and the documents."""
    return content_hidden(capture_content=capture_content).anything


def _masked(text: str) -> str:
    placeholders = Placeholders(CLASSES)
    for _ in placeholders.learn(text):
        pass
    return placeholders.mask(text)
