"""Users' ratings as Phoenix annotations of the kind HUMAN: of the trace, or of a span where the application names it.

The same user's rating of the same answer replaces the earlier one: Phoenix updates an annotation of the same name and
identifier.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from rag_otel.delivery.export_queue import ExportPolicy
from rag_otel.delivery.http import post, to_json
from rag_otel.ratings.rating import Rating
from rag_otel.writers.attributes import present
from rag_otel.writers.phoenix_links import phoenix_base_url
from rag_otel.writers.rating_texts import identifier, masked_comment, masked_label

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
        `rating_texts.identifier`."""
        base_url = phoenix_base_url(endpoint)
        self._trace_url = f"{base_url}/v1/trace_annotations?sync=false"
        self._span_url = f"{base_url}/v1/span_annotations?sync=false"
        self._headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
        self._capture_content = capture_content
        self._user_key = user_key
        self._timeout_s = timeout_s

    def write(self, batch: Sequence[Rating]) -> None:
        """Sends the batch in at most two requests. Raises RetryableError or PermanentError, see `http.post`."""
        last = {(each.trace_id, each.span_id, each.name, each.user_id): each for each in batch}.values()
        self._post(self._trace_url, (each for each in last if each.span_id is None))
        self._post(self._span_url, (each for each in last if each.span_id is not None))

    def _post(self, url: str, ratings: Iterable[Rating]) -> None:
        rows = [self._row(each) for each in ratings]
        if rows:
            post(url, to_json({"data": rows}), headers=self._headers, timeout_s=self._timeout_s)

    def _row(self, rating: Rating) -> dict[str, Any]:
        place = {"trace_id": rating.trace_id} if rating.span_id is None else {"span_id": rating.span_id}
        said = {
            "score": rating.score if rating.score is not None else rating.value,
            "label": masked_label(rating, capture_content=self._capture_content),
            "explanation": masked_comment(rating, capture_content=self._capture_content),
        }
        if not present(said):
            said["label"] = "commented"  # the words are hidden, and an annotation without any result says nothing
        return {
            **place,
            "name": rating.name,
            "annotator_kind": "HUMAN",
            "identifier": identifier(rating, key=self._user_key),
            "result": present(said),
            "metadata": present({TRACE_WAS: rating.trace_was}),
        }
