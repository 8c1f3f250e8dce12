"""How often an alert on one answer is right, and how many there are, per judge and threshold.

    python benchmarks/alert_precision.py [--json]

Data: examples/data (335 answers to 59 questions, hallucinated spans marked by people). The embedded judge is out of
fold. Each answer goes through the real rules, inbox and queue to a channel that records what it is told. The data
holds far more unfaithful answers than production does, so the counts are reweighted to 1%, 5% and 20%:

    precision = p * hits / (p * hits + (1 - p) * false)       hits, false: shares of bad and good answers that are told

The judges behind a language model are simulated, because none runs here: they know what people marked and err on 25% of
the unsupported and 3% of the supported claims (the `usual` judge of benchmarks/cascade.py). Intervals: 95%, bootstrap
over questions, because the answers to one question are alike.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from cascade import STRENGTHS, Answer, SimulatedJudge, load

from rag_otel.alert import Alert
from rag_otel.alerts.digest import ANSWERS_TO_REVIEW
from rag_otel.alerts.inbox import Inbox
from rag_otel.alerts.precision import AnswerPrecision
from rag_otel.alerts.problems import DAY_S
from rag_otel.alerts.rules import AlertRules, parse_rule
from rag_otel.alerts.schedule import Limits
from rag_otel.alerts.telling import AlertDelivery
from rag_otel.cli.terminal import table
from rag_otel.model import EvaluatedTrace, Evaluation, EvaluationStatus, RagTrace, SamplingDecision, SpanRef
from rag_otel_evaluators.judges.cascade import SURE_SUPPORTED_FROM, CascadeJudge
from rag_otel_evaluators.judges.judge import Judge
from rag_otel_evaluators.metrics.faithfulness import Faithfulness

SHARES = (0.01, 0.05, 0.2)
RULES = ("unfaithful", *(f"risk>={at}" for at in (0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.97, 0.99)))
RESAMPLES = 1000
FLUSH_S = 60.0
DAYS, A_DAY = 20, 1000
DAY_HEADER = ("judge", *(f"right at {share:.0%}" for share in SHARES))


@dataclass(frozen=True, slots=True)
class Told:
    """One answer: whether people found it unfaithful, and whether an alert was told."""

    question: str
    bad: bool
    told: bool


class Recorder:
    """A channel that keeps what it is told."""

    name = "recorder"

    def __init__(self) -> None:
        self.traces: set[str] = set()

    def send(self, alert: Alert) -> None:
        if alert.target is not None:
            self.traces.add(alert.target.trace_id)


def main() -> None:
    """Print the table, or the rows as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--json", action="store_true", help="the counts behind the figures: those of rag_otel/alerts/precision.py"
    )
    arguments = parser.parse_args()
    answers = load()
    rows, stored = [], []
    for name, judged in judges(answers):
        for rule in RULES:
            told = through_inbox(answers, judged, rule)
            stored.append(counts(name, rule, told))
            rows.append([name, rule, *(cell for share in SHARES for cell in figures(told, share))])
    if arguments.json:
        print(*map(json.dumps, stored), sep="\n")
        return
    header = ["judge", "rule", *(f"{what} at {share:.0%}" for share in SHARES for what in ("right", "alerts in 1,000"))]
    print(f"{len(answers)} answers, {sum(int(answer.row['label']) for answer in answers)} of them unfaithful")
    print(table(rows, header=header))
    print(f"\nThe message of the day: of {DAYS} days with {A_DAY} answers each, how many of the shown are unfaithful")
    days = [[name, *(right_of_days(answers, judged, share) for share in SHARES)] for name, judged in judges(answers)]
    print(table(days, header=DAY_HEADER))


def right_of_days(answers: Sequence[Answer], judged: Sequence[Evaluation], share: float) -> str:
    """Days of answers drawn from the data, `share` of them unfaithful, through the inbox: right of shown, and how many
    answers the digest counts a day."""
    drawn, now, told = random.Random(11), [DAY_S], list[Alert]()
    inbox = Inbox(
        rules=AlertRules(precision=AnswerPrecision()),
        clock=lambda: now[0],
    )
    inbox.connect(told.append)
    truth = [bool(int(answer.row["label"])) for answer in answers]
    by_truth = {kind: [at for at, bad in enumerate(truth) if bad is kind] for kind in (True, False)}
    bad_traces: set[str] = set()
    for number in range(DAYS * A_DAY):
        bad = drawn.random() < share
        result = a_result(answers, judged, drawn.choice(by_truth[bad]), number)
        if bad:
            bad_traces.add(result.trace.target.trace_id)
        inbox.consider(result)
        now[0] += DAY_S / A_DAY
        if number % 10 == 0:
            inbox.tick()
    now[0] += DAY_S
    inbox.tick()
    messages = [alert for alert in told if alert.name == ANSWERS_TO_REVIEW]
    shown = [example.target.trace_id for alert in messages for example in alert.examples if example.target]
    right = sum(trace in bad_traces for trace in shown)
    counted = sum(alert.count for alert in messages) / DAYS
    return f"{right} of {len(shown)} ({right / max(1, len(shown)):.0%}), of {counted:.0f} a day"


def judges(answers: Sequence[Answer]) -> Iterator[tuple[str, list[Evaluation]]]:
    """(name, the evaluation of each answer) of each judge."""
    yield "embedded", [evaluated(answer, answer.cheap) for answer in answers]
    yield "simulated model", [evaluated(answer, simulated(answer)) for answer in answers]
    for name, band in (("cascade to 0.1", (0.1, SURE_SUPPORTED_FROM)), ("cascade", (0.0, SURE_SUPPORTED_FROM))):
        yield (
            name,
            [
                evaluated(
                    answer,
                    CascadeJudge(
                        cheap=answer.cheap,
                        expensive=simulated(answer),
                        sure_unsupported_to=band[0],
                        sure_supported_from=band[1],
                    ),
                )
                for answer in answers
            ],
        )


def simulated(answer: Answer) -> SimulatedJudge:
    miss, alarm = STRENGTHS["usual"]
    return SimulatedJudge(answer.row, lambda row, claim: miss, lambda row, claim: alarm, 0, [])


def evaluated(answer: Answer, judge: Judge) -> Evaluation:
    row = answer.row
    return Faithfulness(judge=judge).evaluate_sync(
        question=row["question"], chunks=row["contexts"], response=row["response"]
    )


def through_inbox(answers: Sequence[Answer], judged: Sequence[Evaluation], rule: str) -> list[Told]:
    """Every answer through rules, inbox and queue, without cooldown, digest and cap: each alert by itself."""
    recorder = Recorder()
    inbox = Inbox(
        [recorder],
        rules=AlertRules([parse_rule(rule)]),
        limits=Limits(cooldown_s=0, resolve_after_s=0, per_minute=10**9),
    )
    delivery = AlertDelivery(inbox)
    for number in range(1, len(answers) + 1):
        delivery.submit(a_result(answers, judged, number - 1, number))
    if not delivery.flush(FLUSH_S):
        raise SystemExit("the recording channel was not told everything")
    delivery.shutdown(FLUSH_S)
    return [
        Told(answer.row["source_id"], bool(int(answer.row["label"])), f"{number:032x}" in recorder.traces)
        for number, answer in enumerate(answers, 1)
    ]


def a_result(answers: Sequence[Answer], judged: Sequence[Evaluation], at: int, number: int) -> EvaluatedTrace:
    """The answer at a place of the data as the `number`-th result."""
    return EvaluatedTrace(
        trace=RagTrace(
            target=SpanRef(trace_id=f"{number:032x}", span_id=f"{number:016x}"), response=answers[at].row["response"]
        ),
        decision=SamplingDecision(sampled=True, reason="ratio", probability=1.0),
        evaluations=(judged[at],),
        status=EvaluationStatus.EVALUATED,
    )


def shares(told: Sequence[Told]) -> tuple[float, float]:
    """Shares of the unfaithful, and of the faithful, answers that were told."""
    bad, good = [each.told for each in told if each.bad], [each.told for each in told if not each.bad]
    return sum(bad) / max(1, len(bad)), sum(good) / max(1, len(good))


def counts(judge: str, rule: str, told: Sequence[Told]) -> dict[str, str | float]:
    """How many of the bad and of the good answers were told."""
    bad, good = [each.told for each in told if each.bad], [each.told for each in told if not each.bad]
    risk = float(rule.partition(">=")[2] or 0.0)
    kinds = {"bad": len(bad), "bad_told": sum(bad), "good": len(good), "good_told": sum(good)}
    return {"judge": judge, "risk_from": risk, **kinds}


def figures(told: Sequence[Told], share: float) -> tuple[str, str]:
    """Precision with its interval, and alerts in 1,000 answers, where `share` of them are unfaithful."""
    by_question: dict[str, list[Told]] = {}
    for each in told:
        by_question.setdefault(each.question, []).append(each)
    groups, drawn = list(by_question.values()), random.Random(7)
    resampled = []
    for _ in range(RESAMPLES):
        sample = [each for group in drawn.choices(groups, k=len(groups)) for each in group]
        if (precision := _precision(*shares(sample), share)) is not None:
            resampled.append(precision)
    resampled.sort()
    hits, false = shares(told)
    alerts = 1000 * (share * hits + (1 - share) * false)
    found = _precision(hits, false, share)
    if found is None:
        return "-", "0"
    low, high = resampled[int(0.025 * len(resampled))], resampled[int(0.975 * len(resampled))]
    return f"{found:.0%} ({low:.0%}-{high:.0%})", f"{alerts:.0f}"


def _precision(hits: float, false: float, share: float) -> float | None:
    told = share * hits + (1 - share) * false
    return share * hits / told if told else None


if __name__ == "__main__":
    main()
