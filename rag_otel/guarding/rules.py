"""What an application asks of a guard, what it gets, and what its verdict is."""

from __future__ import annotations

import enum
import inspect
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, get_args

from rag_otel.errors import ConfigurationError
from rag_otel.evaluation.directions import is_worse
from rag_otel.evaluation.support import FAITHFULNESS, UNFAITHFUL
from rag_otel.model import ClaimVerdict, Evaluation, ReasonCode
from rag_otel.writers.attributes import unsupported

if TYPE_CHECKING:
    from rag_otel.observing.call_snapshot import Snapshot

Action: TypeAlias = Literal["block", "replace", "annotate", "remove"]
Default: TypeAlias = Literal["allow", "block"]
Streaming: TypeAlias = Literal["hold", "release"]

REFUSAL: Final = "This answer is withheld, because the sources do not support it."
NOTE: Final = " [not supported by the sources]"

FAILED_REPLACEMENT: Final = "replacement_failed"
INTERNAL_ERROR: Final = "internal_error"
NO_RESPONSE: Final = "no_response"
NO_RESULT: Final = "no_result"
NO_SETUP: Final = "no_setup"
NOT_WRITABLE: Final = "not_writable"
_NOTHING_TO_CHECK: Final = frozenset({ReasonCode.NO_CLAIMS, ReasonCode.ABSTAINED})


class Finding(enum.StrEnum):
    """What a guard knows of an answer."""

    SUPPORTED = "supported"
    """Also an answer in which there is nothing to check, such as "I do not know"."""
    UNSUPPORTED = "unsupported"
    NOT_JUDGED = "not_judged"
    """There was no verdict in time; `GuardVerdict.reason` says why."""


class Outcome(enum.StrEnum):
    """What left."""

    PASSED = "passed"
    """The answer as it was."""
    BLOCKED = "blocked"
    """The refusal, in place of the answer or of the rest of a stream."""
    REPLACED = "replaced"
    """The application's replacement, in place of the same."""
    ANNOTATED = "annotated"
    REMOVED = "removed"
    """The answer without its unsupported sentences."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardVerdict:
    """What the judge says of an answer, or why it says nothing."""

    finding: Finding
    question: str | None = None
    response: str | None = None
    """The answer that was judged; of a stream what it had said by then."""
    evaluation: Evaluation | None = None
    """The result of the guard's metric. None if there is none."""
    reason: str | None = None
    """Why it was not judged: `timeout`, `hanging`, `busy`, `no_evaluator`, `no_setup`, `no_response`, or a reason of
    the ordinary evaluation (`no_chunks`, `rate_limited`, `budget`, `local_only`, `judge_error`, ...)."""

    @property
    def unsupported_claims(self) -> list[ClaimVerdict]:
        """The claims that the chunks contradict or do not mention, in the order of the answer."""
        return [] if self.evaluation is None else unsupported(self.evaluation)


@dataclass(frozen=True, slots=True, kw_only=True)
class Guarded:
    """What becomes of an answer: the result of `guard()`."""

    response: Any
    """What may leave: the answer, or what takes its place."""
    outcome: Outcome
    verdict: GuardVerdict

    @property
    def passed(self) -> bool:
        """True if the answer leaves as it was."""
        return self.outcome is Outcome.PASSED


Replacement: TypeAlias = str | Callable[[GuardVerdict], Any]


@dataclass(frozen=True, kw_only=True, eq=False)
class Guard:
    """When an answer may not leave as it is, and what leaves then: `@observe(guard=Guard(action="remove"))`.

    Raises ConfigurationError for what does not fit together.
    """

    action: Action = "block"
    """For an answer that is unsupported. `block`: `refusal` leaves. `replace`: `replacement` leaves. `annotate`: `note`
    is put behind each unsupported sentence. `remove`: those sentences are left out, and if nothing is left, `refusal`
    leaves. If it is not known which sentence is unsupported, `annotate` marks the end, and `remove` blocks."""
    default: Default = "allow"
    """For an answer without a verdict: `allow` lets it pass, `block` lets `refusal` leave."""
    deadline: float = 2.0
    """Seconds that a verdict is waited for. Of a stream: each time that it is checked. A function that replaces an
    answer has as long; after that `default` applies."""
    stream: Streaming = "hold"
    """`hold`: a sentence leaves after its verdict. `release`: everything leaves at once, and the stream ends when a
    sentence is found unsupported."""
    refusal: str = REFUSAL
    replacement: Replacement | None = None
    """A text, or a function of the verdict: async where the guarded function is, or plain, which runs on a thread of
    its own. For a stream that is not text it gives the last item."""
    note: str = NOTE
    metric: str = FAITHFULNESS
    """Name of the evaluator that decides."""
    risk_above: float | None = None
    """Unsupported if the risk is higher than this. Without it and `score_worse_than`: by the label `unfaithful`."""
    score_worse_than: float | None = None
    """Unsupported if the score is worse than this: lower, for nearly every metric. Metrics other than faithfulness need
    this, or `risk_above`."""
    write: Callable[[Any, str], Any] | None = None
    """`write(result, text)` gives the function's result with another text, where rag-otel cannot put it there."""

    def __post_init__(self) -> None:
        for name, allowed in (("action", Action), ("default", Default), ("stream", Streaming)):
            if getattr(self, name) not in get_args(allowed):
                choices = ", ".join(map(repr, get_args(allowed)))
                raise ConfigurationError(f"Guard({name}={getattr(self, name)!r}): choose one of {choices}")
        if not (isinstance(self.deadline, int | float) and 0 < self.deadline < math.inf):
            raise ConfigurationError(f"Guard(deadline={self.deadline!r}): give a number of seconds above 0")
        if self.action == "replace" and self.replacement is None:
            raise ConfigurationError("Guard(action='replace') needs replacement=: a text, or a function of the verdict")
        if self.action != "replace" and self.replacement is not None:
            raise ConfigurationError(f"Guard(replacement=...) is not used by action={self.action!r}: use 'replace'")
        if self.action == "remove" and self.stream == "release":
            raise ConfigurationError("Guard(action='remove') needs stream='hold': what has left cannot be removed")
        for name in ("risk_above", "score_worse_than"):
            limit = getattr(self, name)
            if limit is not None and not 0.0 <= limit <= 1.0:
                raise ConfigurationError(f"Guard({name}={limit!r}): give a number within 0..1")
        if self.metric != FAITHFULNESS and self.risk_above is None and self.score_worse_than is None:
            raise ConfigurationError(f"Guard(metric={self.metric!r}) needs score_worse_than= or risk_above=")

    @property
    def needs_await(self) -> bool:
        """True if only async functions can use this guard."""
        return inspect.iscoroutinefunction(self.replacement)

    def usable_by(self, function: str, *, is_async: bool) -> None:
        """Raises ConfigurationError if a function of this name cannot use the guard."""
        if self.needs_await and not is_async:
            raise ConfigurationError(f"Guard(replacement=...) is async, and {function} is not: give a plain function")


def verdict_of(guard: Guard, evaluations: Sequence[Evaluation], snapshot: Snapshot) -> GuardVerdict:
    """What the guard's metric says of the snapshot's answer."""
    evaluation = next((each for each in evaluations if each.name == guard.metric), None)
    if evaluation is None:
        return not_judged(NO_RESULT, snapshot)
    finding, reason = _finding(guard, evaluation)
    return GuardVerdict(
        finding=finding,
        question=snapshot.question,
        response=snapshot.response,
        evaluation=evaluation,
        reason=reason,
    )


def not_judged(reason: str | None, snapshot: Snapshot) -> GuardVerdict:
    """No verdict on the snapshot's answer, and why."""
    return GuardVerdict(
        finding=Finding.NOT_JUDGED, question=snapshot.question, response=snapshot.response, reason=reason
    )


def _finding(guard: Guard, evaluation: Evaluation) -> tuple[Finding, str | None]:
    if evaluation.error_type is not None:
        return Finding.NOT_JUDGED, evaluation.reason_code or ReasonCode.JUDGE_ERROR
    if evaluation.reason_code in _NOTHING_TO_CHECK:
        return Finding.SUPPORTED, None
    known, fails = _fails(guard, evaluation)
    if fails:
        return Finding.UNSUPPORTED, None
    # An answer of which a part was not judged is never called supported.
    if not known or evaluation.judged_claims < len(evaluation.claims):
        return Finding.NOT_JUDGED, evaluation.reason_code or NO_RESULT
    return Finding.SUPPORTED, None


def _fails(guard: Guard, evaluation: Evaluation) -> tuple[bool, bool]:
    """(whether the metric says anything, whether the answer fails by it)."""
    if guard.risk_above is None and guard.score_worse_than is None:
        return evaluation.label is not None, evaluation.label == UNFAITHFUL
    risky = guard.risk_above is not None and evaluation.risk is not None and evaluation.risk > guard.risk_above
    limit, score = guard.score_worse_than, evaluation.score
    low = limit is not None and score is not None and is_worse(evaluation.name, score, limit)
    asked = (guard.risk_above is not None, evaluation.risk), (guard.score_worse_than is not None, evaluation.score)
    return all(value is not None for wanted, value in asked if wanted), risky or low
