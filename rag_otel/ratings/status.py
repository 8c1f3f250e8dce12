"""What `rag_otel.feedback()` answers."""

from __future__ import annotations

import enum


class FeedbackStatus(enum.StrEnum):
    """What becomes of a rating and of its trace."""

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
