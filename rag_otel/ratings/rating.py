"""What users say of answers, as `rag_otel.feedback()` takes it, and the ratings that this process remembers."""

from __future__ import annotations

import dataclasses
import enum
import re
import threading
import time
from collections import OrderedDict
from dataclasses import field
from typing import Final

from rag_otel.lazy_dataclass import dataclass
from rag_otel.model import RagTrace
from rag_otel.ratings.words import rating_of
from rag_otel.rendering.text_cutting import clean
from rag_otel.safety.fork import after_fork_in_child

USER_FEEDBACK: Final = "user_feedback"
"""The name of a rating, unless the application gives another one."""
IDENTIFIER: Final = "rag-otel:feedback"
"""Of the annotations of ratings; with a hash of the user's id where one is given."""
LONGEST_COMMENT: Final = 4_000
"""Characters of a comment that are kept."""
_LONGEST_NAME: Final = 100
_MOST_REMEMBERED: Final = 4_096
"""Ratings that are remembered; the oldest is forgotten first. One takes about 300 bytes."""
RESERVED_NAMES: Final = frozenset({"note"})
"""Phoenix rejects a whole batch that contains an annotation of this name."""
_HEX: Final = re.compile(r"[0-9a-f]+")


class FeedbackStatus(enum.StrEnum):
    """What becomes of a rating and of its trace: what `rag_otel.feedback()` answers."""

    AT_HAND = "at_hand"
    """Recorded. The trace waits for its evaluation in this process, or is being evaluated: a complaint forces it,
    within the limits of evaluations per minute and of budgets."""
    NOT_SAMPLED = "not_sampled"
    """Recorded. The sampler had left the trace out and its content was let go, so it cannot be evaluated here;
    `rag-otel labels feedback` reads it back from Phoenix."""
    NOT_HERE = "not_here"
    """Recorded. The trace is not in this process: it was evaluated or left out before, or another process has it. If
    it has no result, `rag-otel labels feedback` reads it back from Phoenix."""
    REFUSED = "refused"
    """Not recorded: the arguments are wrong, nothing is set up, or the queue is full. A warning says which."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rating:
    """What one user said of one answer. Saying it again replaces what was said before."""

    trace_id: str
    """32 lower-case hex digits."""
    span_id: str | None = None
    """The span of the answer, where the trace has several answers; 16 lower-case hex digits."""
    name: str = USER_FEEDBACK
    score: float | None = None
    """0..1, higher is better."""
    label: str | None = None
    comment: str | None = None
    """As the user wrote it: it is masked before it leaves the process."""
    user_id: str | None = field(default=None, repr=False)
    """As the application gave it: only a hash of it leaves the process."""
    trace_was: str = ""
    """A `FeedbackStatus`: what had become of the trace."""
    time_ns: int = field(default_factory=time.time_ns)

    @property
    def value(self) -> float | None:
        """The rating in 0..1, of the score or of a label that is a common word. None if it says neither good nor
        bad."""
        found = self.score if self.score is not None else rating_of(self.label)
        return found if found is not None and 0.0 <= found <= 1.0 else None


def rating(
    trace_id: str | int,
    *,
    score: float | bool | None = None,
    label: str | None = None,
    comment: str | None = None,
    name: str = USER_FEEDBACK,
    span_id: str | int | None = None,
    user_id: str | None = None,
) -> Rating:
    """A checked rating. Raises ValueError that says what is wrong."""
    if score is None and not label and not comment:
        raise ValueError("give a score, a label or a comment")
    if score is not None and not (isinstance(score, int | float) and 0 <= score <= 1):
        raise ValueError(f"score must be within 0..1, not {score!r}")
    if not 0 < len(name) <= _LONGEST_NAME or name in RESERVED_NAMES:
        raise ValueError(f"name must have 1 to {_LONGEST_NAME} characters and not be {', '.join(RESERVED_NAMES)}")
    return Rating(
        trace_id=_hex_id(trace_id, 32, "trace_id"),
        span_id=None if span_id is None else _hex_id(span_id, 16, "span_id"),
        name=clean(name),
        score=None if score is None else float(score),
        label=None if not label else clean(str(label)[:_LONGEST_NAME]),
        comment=None if not comment else clean(str(comment)[:LONGEST_COMMENT]),
        user_id=None if user_id is None else str(user_id),
    )


def rating_bytes(given: Rating) -> int:
    """About how much memory a rating takes, a character counted as a byte."""
    return 500 + len(given.comment or "") + len(given.label or "")


def _hex_id(given: str | int, digits: int, what: str) -> str:
    text = f"{given:0{digits}x}" if isinstance(given, int) else str(given).strip().lower()
    if len(text) != digits or not _HEX.fullmatch(text) or not text.strip("0"):
        raise ValueError(f"{what} must be {digits} hex digits, as rag_otel.current_trace_id() returns them")
    return text


class RecentRatings:
    """The latest ratings of this process: a trace that is evaluated after it was rated is evaluated as a rated one.

    Filled by `rag_otel.feedback()`, read by the worker that evaluates. Nothing is added to a call that nobody rates.
    Thread-safe.
    """

    def __init__(self, max_items: int = _MOST_REMEMBERED) -> None:
        self._max = max_items
        self._start_empty()
        after_fork_in_child(self._start_empty)  # which has none of these traces

    def _start_empty(self) -> None:
        self._lock = threading.Lock()
        self._found: OrderedDict[tuple[str, str | None], float] = OrderedDict()
        """(trace id, span id of the answer that is meant, or None) -> rating."""

    def add(self, rating: Rating) -> None:
        """Remember what was said; of one answer the last word counts."""
        if rating.value is None:
            return
        with self._lock:
            about = rating.trace_id, rating.span_id
            self._found.pop(about, None)
            self._found[about] = rating.value
            while len(self._found) > self._max:
                self._found.popitem(last=False)

    def rated(self, trace: RagTrace) -> RagTrace:
        """The trace with its rating; as it is where nobody has rated it here."""
        if not self._found:
            return trace
        target = trace.target
        found = self._found.get((target.trace_id, target.span_id), self._found.get((target.trace_id, None)))
        return trace if found is None else dataclasses.replace(trace, rating=found)


recent_ratings: Final = RecentRatings()
