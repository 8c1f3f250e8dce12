"""What a Phoenix has stored of what it took.

Phoenix answers an export when the spans are in its memory, stores them one after the other in the order in which they
came, and forgets those that wait when it is killed; how many wait (up to 20,000) depends on its load. So a batch is
safe once its last span is found in Phoenix, and not a moment earlier. Phoenix ignores a span that it has: sending
again does no harm.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

from rag_otel.errors import PermanentError, RetryableError
from rag_otel_collectors.otlp.requests.wire import last_span_id

VERSION_HEADER: Final = "x-phoenix-server-version"
"""Every answer of a Phoenix has it."""
QUERY_PATH: Final = "/graphql"


def mark_of(requests: Sequence[bytes]) -> bytes:
    """The span whose arrival tells that all of a batch has arrived; empty where that cannot be told."""
    try:
        return last_span_id(requests[-1])
    except (ValueError, IndexError):
        return b""


def question(span_ids: Sequence[bytes]) -> bytes:
    """What Phoenix is asked about spans: does it have them? An id that it lacks is answered with null."""
    fields = " ".join(f's{n}: getSpanByOtelId(spanId: "{each.hex()}") {{ id }}' for n, each in enumerate(span_ids))
    return json.dumps({"query": f"{{ {fields} }}"}).encode()


def found(span_ids: Sequence[bytes], answer: bytes) -> set[bytes]:
    """Those of the spans that Phoenix has. Raises RetryableError when its database could not be asked, PermanentError
    when it does not understand the question."""
    try:
        content: Any = json.loads(answer)
        # What failed while it was answered says where; what was wrong with the question does not.
        if any("path" in each for each in content.get("errors") or ()):
            raise RetryableError("Phoenix could not look for spans")
        return {each for n, each in enumerate(span_ids) if content["data"][f"s{n}"] is not None}
    except (ValueError, KeyError, TypeError, AttributeError):
        raise PermanentError("Phoenix does not say which spans it has stored") from None
