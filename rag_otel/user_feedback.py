"""`feedback()`: what a user said of an answer, after the request has ended.

    trace_id = rag_otel.current_trace_id()      # in the observed call; hand it to the frontend
    rag_otel.feedback(trace_id, score=0)        # later, in whichever process the thumbs-down arrives

The rating goes to Phoenix as an annotation of the trace (elsewhere as a span of it). Where the trace still waits for
its evaluation in this process, a complaint forces that.
"""

from __future__ import annotations

import atexit
import dataclasses
import functools

from rag_otel.delivery.export_queue import ExportQueue
from rag_otel.errors import ConfigurationError
from rag_otel.ratings.rating import USER_FEEDBACK, FeedbackStatus, Rating, rating, recent_ratings
from rag_otel.safety.fork import after_fork_in_child
from rag_otel.safety.guard import counters, guarded, logger
from rag_otel.safety.time_limit import EXIT_S, exit_budget
from rag_otel.settings import resolve
from rag_otel.setup import instrument as instrumentation
from rag_otel.setup.writing import compose_ratings


def feedback(
    trace_id: str | int,
    *,
    score: float | bool | None = None,
    label: str | None = None,
    comment: str | None = None,
    name: str = USER_FEEDBACK,
    span_id: str | int | None = None,
    user_id: str | None = None,
) -> FeedbackStatus:
    """Record what a user said of an answer. Returns at once (the first call imports what it needs) and never raises.

    `score` is 0..1, higher is better; a thumbs-down is 0 or False. `label` is a word such as `thumbs_down`. `label` and
    `comment` are masked (credentials, e-mail addresses, phone numbers, ...) before they leave. `name` is the
    annotation's name. `span_id` says which answer is meant where a trace has several. `user_id` tells the ratings of
    several users apart; only a hash of it and of the trace is written. The same call twice is one annotation, and a
    user's last word replaces the one before.
    """
    try:
        given = rating(trace_id, score=score, label=label, comment=comment, name=name, span_id=span_id, user_id=user_id)
    except Exception as error:  # noqa: BLE001 - what a request holds may raise anything when it is read
        return _refused("invalid", f"feedback() was not recorded: {error}")
    with guarded("feedback"):
        return _record(given)
    return FeedbackStatus.REFUSED


def _record(given: Rating) -> FeedbackStatus:
    current = instrumentation.current()
    queue = _queue_apart() if current is None else current.ratings()
    if queue is None:
        return _refused(
            "nowhere",
            "feedback() was not recorded: call rag_otel.instrument() in this process, or set RAG_OTEL_PHOENIX_ENDPOINT",
        )
    recent_ratings.add(given)  # first: the worker may take the trace up at any moment
    status = FeedbackStatus.NOT_HERE if current is None else current.status_of(given)
    if not queue.put(dataclasses.replace(given, trace_was=str(status))):
        return FeedbackStatus.REFUSED  # counted and logged by the queue
    counters.add(f"feedback.{status}")
    return status


def _refused(why: str, message: str) -> FeedbackStatus:
    if counters.add(f"feedback.refused.{why}") == 1:
        logger.warning("rag-otel: %s", message)
    return FeedbackStatus.REFUSED


@functools.lru_cache(1)
def _queue_apart() -> ExportQueue[Rating] | None:
    """For a process that takes feedback and is not instrumented itself; None where no Phoenix is set."""
    try:
        queue = compose_ratings(resolve({}).settings, emit=None)
    except ConfigurationError as error:
        _refused("settings", f"feedback() was not recorded: {error}")
        return None
    if queue is not None:
        after_fork_in_child(queue.after_fork)
        instrumentation.flush_also(queue)
        atexit.register(_send_before_exit, queue)
    return queue


def _send_before_exit(queue: ExportQueue[Rating]) -> None:
    with guarded("feedback.atexit"), exit_budget.limited(EXIT_S) as limit_s:
        queue.flush(limit_s)
