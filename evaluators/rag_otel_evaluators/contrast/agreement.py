"""How far a judge agrees with the pairs, with intervals; and whether its verdicts are good enough to wake somebody.

The pairs are half unfaithful and made to be hard. What share of alarms would be right in traffic follows from them only
with a prior: at prevalence p, an alarm is right with probability p*c / (p*c + (1-p)*f), where c is the share of
unfaithful answers that are caught and f the share of faithful ones that raise a false alarm. Intervals: 95%, the wider
of two: the bootstrap over lists of passages, because pairs over the same passages rise and fall together, and Wilson's
for as many shares as there are lists, because the bootstrap of a judge without an error promises that it never errs.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from rag_otel.model import Evaluation
from rag_otel_evaluators.contrast.pairs import JudgedPair
from rag_otel_evaluators.offline.statistics import bootstrap_interval

_Z: Final = 1.96
LEAST_PRECISION: Final = 0.5
"""Of alarms at the stated prevalence: every second one is right, at the lower end of what the pairs allow."""
LEAST_CAUGHT: Final = 0.5
MOST_WITHOUT_VERDICT: Final = 0.05
LEAST_PAIRS: Final = 100
"""Fewer do not tell."""

Interval: TypeAlias = tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """A share in 0..1 and its 95% interval."""

    value: float
    interval: Interval

    @property
    def low(self) -> float:
        return self.interval[0]

    @property
    def high(self) -> float:
        return self.interval[1]


@dataclass(frozen=True, slots=True, kw_only=True)
class PairAgreement:
    """How far a judge agrees with some pairs."""

    pairs: int
    labels: Share
    """Answers whose label is right; one without a label is not."""
    ordered: Share
    """Pairs whose unfaithful answer has the higher risk; ties, and pairs without both risks, count one half."""
    caught: Share
    """Unfaithful answers that are labelled so."""
    false_alarms: Share
    """Faithful answers that are labelled unfaithful."""
    without_verdict: float
    """Answers without a label."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Expense:
    """What judging took."""

    answers: int
    calls: int
    most_calls: int
    """For one answer."""
    input_tokens: int
    output_tokens: int
    cost_usd: float | None
    """None where a price is unknown."""
    median_s: float
    slow_s: float
    """95% of answers took no longer."""
    reasons: tuple[tuple[str, int], ...]
    """Reason codes of answers that were judged in part or not at all, the most frequent first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Paging:
    """Whether verdicts are good enough to page on, and why not."""

    prevalence: float
    precision: Interval
    """Expected share of alarms that are right, at the unfavourable and the favourable ends of the intervals."""
    objections: tuple[str, ...]

    @property
    def good_enough(self) -> bool:
        return not self.objections


def agreement(judged: Sequence[JudgedPair]) -> PairAgreement:
    """Of at least one pair."""
    return PairAgreement(
        pairs=len(judged),
        labels=_share(judged, lambda one: [one.faithful.label == "faithful", one.unfaithful.label == "unfaithful"]),
        ordered=_share(judged, lambda one: [_ordered(one)]),
        caught=_share(judged, lambda one: [one.unfaithful.label == "unfaithful"]),
        false_alarms=_share(judged, lambda one: [one.faithful.label == "unfaithful"]),
        without_verdict=sum(each.label is None for each in _evaluations(judged)) / (2 * len(judged)),
    )


def agreement_by(judged: Sequence[JudgedPair], kind: Callable[[JudgedPair], str]) -> list[tuple[str, PairAgreement]]:
    """(kind, agreement) of each kind of pair, by name."""
    kinds: defaultdict[str, list[JudgedPair]] = defaultdict(list)
    for one in judged:
        kinds[kind(one)].append(one)
    return [(name, agreement(kinds[name])) for name in sorted(kinds)]


def expense(judged: Sequence[JudgedPair]) -> Expense:
    """Of at least one pair."""
    evaluations = _evaluations(judged)
    usages = [each.usage for each in evaluations if each.usage is not None]
    costs = [usage.cost_usd for usage in usages if usage.calls]
    durations = sorted(each.duration_s or 0.0 for each in evaluations)
    reasons = Counter(str(each.reason_code) for each in evaluations if each.reason_code is not None)
    return Expense(
        answers=len(evaluations),
        calls=sum(usage.calls for usage in usages),
        most_calls=max((usage.calls for usage in usages), default=0),
        input_tokens=sum(usage.input_tokens for usage in usages),
        output_tokens=sum(usage.output_tokens for usage in usages),
        cost_usd=None if any(cost is None for cost in costs) else sum(cost or 0.0 for cost in costs),
        median_s=durations[len(durations) // 2],
        slow_s=durations[min(len(durations) - 1, int(0.95 * len(durations)))],
        reasons=tuple(reasons.most_common()),
    )


def paging(found: PairAgreement, *, prevalence: float, not_judged: int = 0) -> Paging:
    """Whether to page on a judge that agrees so far, where `prevalence` (0..1) of all answers are unfaithful.
    `not_judged`: pairs that are not in `found`, because the judge could not be asked."""
    precision = (
        _precision(found.caught.low, found.false_alarms.high, prevalence),
        _precision(found.caught.high, found.false_alarms.low, prevalence),
    )
    objections = []
    if found.pairs < LEAST_PAIRS:
        objections.append(f"{found.pairs} pairs are too few to tell ({LEAST_PAIRS} are needed)")
    if precision[0] < LEAST_PRECISION:
        objections.append(f"of its alarms perhaps only {precision[0]:.0%} would be right")
    if found.caught.low < LEAST_CAUGHT:
        objections.append(f"it may catch only {found.caught.low:.0%} of unfaithful answers")
    if found.without_verdict > MOST_WITHOUT_VERDICT:
        objections.append(f"{found.without_verdict:.0%} of answers got no verdict")
    if not_judged > MOST_WITHOUT_VERDICT * (found.pairs + not_judged):
        objections.append(f"{not_judged} of {found.pairs + not_judged} pairs could not be judged")
    return Paging(prevalence=prevalence, precision=precision, objections=tuple(objections))


def _share(judged: Sequence[JudgedPair], values: Callable[[JudgedPair], Sequence[float]]) -> Share:
    groups: defaultdict[tuple[str, ...], list[float]] = defaultdict(list)
    for one in judged:
        groups[tuple(sorted(one.pair.contexts))] += map(float, values(one))
    everything = [value for group in groups.values() for value in group]
    value = sum(everything) / len(everything)
    low, high = _wilson(value, len(groups))
    resampled = bootstrap_interval(list(groups.values()))
    if resampled is not None:
        low, high = min(low, resampled[0]), max(high, resampled[1])
    return Share(value=value, interval=(low, high))


def _wilson(share: float, count: int) -> Interval:
    """95% of a share among `count` independent ones. Source: E. B. Wilson, JASA 22 (1927)."""
    middle = (share + _Z * _Z / (2 * count)) / (1 + _Z * _Z / count)
    reach = _Z / (1 + _Z * _Z / count) * math.sqrt(share * (1 - share) / count + _Z * _Z / (4 * count * count))
    return max(0.0, middle - reach), min(1.0, middle + reach)


def _ordered(one: JudgedPair) -> float:
    low, high = one.faithful.risk, one.unfaithful.risk
    return 0.5 if low is None or high is None or low == high else float(high > low)


def _evaluations(judged: Sequence[JudgedPair]) -> list[Evaluation]:
    return [each for one in judged for each in (one.faithful, one.unfaithful)]


def _precision(caught: float, false_alarms: float, prevalence: float) -> float:
    right = prevalence * caught
    alarms = right + (1.0 - prevalence) * false_alarms
    return right / alarms if alarms else 0.0


_BINS: Final = 10


def calibration_error(judged: Sequence[JudgedPair]) -> float | None:
    """Expected calibration error, 0..1: the mean distance of risk and share of unfaithful answers, in ten bins of equal
    width, weighted by their answers. None without a risk. Half of the answers of pairs are unfaithful, and made to be
    hard: it compares judges, and says nothing of traffic."""
    bins: list[list[tuple[float, bool]]] = [[] for _ in range(_BINS)]
    for one in judged:
        for evaluation, bad in ((one.faithful, False), (one.unfaithful, True)):
            if evaluation.risk is not None:
                bins[min(_BINS - 1, int(evaluation.risk * _BINS))].append((evaluation.risk, bad))
    count = sum(map(len, bins))
    if not count:
        return None
    return sum(abs(sum(risk - bad for risk, bad in each)) for each in bins) / count
