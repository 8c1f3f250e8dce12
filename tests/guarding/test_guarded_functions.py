"""`@observe(guard=...)` and `guard()` with the embedded judge: what leaves, and what is on the span."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Callable
from typing import Any

import pytest
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF
from pydantic import BaseModel

import rag_otel
from rag_otel import Guard, GuardVerdict, observe, record_chunks
from rag_otel.errors import ConfigurationError
from rag_otel.guarding.rules import NOTE, REFUSAL
from rag_otel.safety.guard import counters
from rag_otel.sampling.policy import Coin, DropRule, SamplingPolicy
from tests.guarding.conftest import ALSO_GOOD, ANSWER, BAD, GOOD, PASSAGE, PATIENT_S, App
from tests.processing.kit import Judge, retrieve

QUESTION = "How tall is the tower?"
LEFT = {
    "block": REFUSAL,
    "replace": "1 sentence is wrong",
    "annotate": f"{GOOD} {BAD}{NOTE} {ALSO_GOOD}",
    "remove": f"{GOOD} {ALSO_GOOD}",
}

OUTCOME_OF = {"allow": "passed", "block": "blocked"}
OUTCOMES = {"block": "blocked", "replace": "replaced", "annotate": "annotated", "remove": "removed"}


def guard_of(action: Any, **options: Any) -> Guard:
    replacement = (
        (lambda verdict: f"{len(verdict.unsupported_claims)} sentence is wrong") if action == "replace" else None
    )
    return Guard(action=action, deadline=PATIENT_S, replacement=replacement, **options)


@pytest.mark.parametrize("action", list(LEFT))
async def test_each_action_on_each_kind_of_function(app: App, action: str) -> None:
    """Sync and async functions, and `guard()` by itself: the same text leaves, and each answer was judged once."""
    app.instrument()

    @observe(guard=guard_of(action))
    def answer(question: str) -> dict[str, Any]:
        return {"answer": ANSWER, "documents": [PASSAGE]}

    @observe(guard=guard_of(action))
    async def async_answer(question: str) -> tuple[str, list[str]]:
        await asyncio.sleep(0)
        return ANSWER, [PASSAGE]

    assert answer(QUESTION) == {"answer": LEFT[action], "documents": [PASSAGE]}
    assert await async_answer(QUESTION) == (LEFT[action], [PASSAGE])
    assert (await rag_otel.guard(QUESTION, [PASSAGE], ANSWER, guard_of(action))).response == LEFT[action]
    assert rag_otel.guard_sync(QUESTION, [PASSAGE], ANSWER, guard_of(action)).response == LEFT[action]
    spans = app.spans()
    assert [span["name"].rpartition(".")[2] for span in spans] == ["answer", "async_answer", "guard", "guard"]
    for span in spans:
        assert (span["output.value"], span["rag.guard.response"]) == (ANSWER, LEFT[action])
        assert (span["rag.guard.finding"], span["rag.guard.check_count"]) == ("unsupported", 1)
        assert span["rag.guard.outcome"] == OUTCOMES[action]
        assert span["rag.evaluation.status"] == "evaluated"
        assert span["rag.evaluation.faithfulness.unsupported_claims"] == (BAD,)
    assert len(app.evaluated()) == 4


class Reply(BaseModel):
    answer: str
    documents: list[str]


@dataclasses.dataclass(frozen=True)
class Message:
    text: str
    documents: list[str]


@pytest.mark.parametrize(
    ("result", "read"),
    [
        (Reply(answer=ANSWER, documents=[PASSAGE]), lambda r: r.answer),
        (Message(text=ANSWER, documents=[PASSAGE]), lambda r: r.text),
        ({"choices": [{"message": {"content": ANSWER}}], "documents": [PASSAGE]},
         lambda r: r["choices"][0]["message"]["content"]),
        ({"messages": [{"role": "assistant", "content": ANSWER}], "output": ANSWER, "documents": [ANSWER, PASSAGE]},
         lambda r: r["output"] if r["messages"][0]["content"] == r["output"] else None),
    ],
)  # fmt: skip
def test_the_text_is_put_where_the_answer_stood(app: App, result: Any, read: Callable[[Any], Any]) -> None:
    """Wherever it stood, but not in the documents; the application's own object stays as it was."""
    app.instrument()
    before = result.model_copy(deep=True) if isinstance(result, BaseModel) else result

    @observe(guard=guard_of("block"))
    def answer(question: str) -> Any:
        record_chunks([PASSAGE])
        return result

    handed = answer(QUESTION)
    assert read(handed) == REFUSAL
    assert type(handed) is type(result)
    assert result == before
    assert getattr(handed, "documents", None) or handed["documents"]


def test_a_result_without_a_place_for_the_text(app: App) -> None:
    """The answer is computed from the result: `write` puts the text there, and without it the default applies."""
    app.instrument()

    def made(**options: Any) -> Any:
        @observe(response=lambda result: result["parts"][0] + result["parts"][1], chunks=lambda result: [PASSAGE],
                 guard=guard_of("block", **options))  # fmt: skip
        def answer(question: str) -> dict[str, Any]:
            return {"parts": [GOOD, " " + BAD]}

        return answer(QUESTION)

    assert made(write=lambda result, text: {"parts": [text]}) == {"parts": [REFUSAL]}
    assert made() == {"parts": [GOOD, " " + BAD]}
    assert made(default="block") == REFUSAL
    assert [span.get("rag.guard.reason") for span in app.spans()] == [None, "not_writable", "not_writable"]


def test_what_the_application_raises_is_its_own_affair(
    app: App, answering: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its function's exception is passed on; its replacement's is not: the default applies."""
    app.instrument()

    def failing(verdict: GuardVerdict) -> str:
        raise RuntimeError("no template")

    guard = Guard(action="replace", replacement=failing, deadline=PATIENT_S)
    assert answering(guard=guard)(ANSWER)["answer"] == ANSWER
    assert answering(guard=dataclasses.replace(guard, default="block"))(ANSWER)["answer"] == REFUSAL
    first, second = app.spans()
    assert first["rag.guard.reason"] == second["rag.guard.reason"] == "replacement_failed"
    assert (first["rag.guard.outcome"], second["rag.guard.outcome"]) == ("passed", "blocked")

    def leaving(verdict: GuardVerdict) -> str:
        raise SystemExit(3)

    assert answering(guard=Guard(action="replace", replacement=leaving, deadline=PATIENT_S))(ANSWER)["answer"] == ANSWER
    assert app.spans()[-1]["rag.guard.reason"] == "replacement_failed"

    @observe(guard=Guard())
    def broken(question: str) -> str:
        raise LookupError("the index is away")

    with pytest.raises(LookupError):
        broken(QUESTION)
    assert app.span()["rag.evaluation.status_reason"] == "error"


@pytest.mark.parametrize("default", ["allow", "block"])
def test_an_error_of_ours_never_reaches_the_caller(
    app: App, answering: Any, monkeypatch: pytest.MonkeyPatch, default: Any
) -> None:
    """The default applies, for functions and for streams."""
    app.instrument()
    monkeypatch.setenv("RAG_OTEL_RAISE_INTERNAL_ERRORS", "0")
    monkeypatch.setattr("rag_otel.guarding.guarded_call.Check", None)
    guard = Guard(default=default)

    @observe(guard=guard)
    def stream(question: str) -> Any:
        record_chunks([PASSAGE])
        yield from (GOOD + " ", ALSO_GOOD + " ", BAD)

    left = {"allow": ANSWER, "block": REFUSAL}[default]
    assert answering(guard=guard)(ANSWER)["answer"] == left
    assert rag_otel.guard_sync(QUESTION, [PASSAGE], ANSWER, guard).response == left
    assert "".join(stream(QUESTION)) == (f"{GOOD} {ALSO_GOOD} {BAD}" if default == "allow" else REFUSAL)


def test_the_coin_does_not_decide_and_means_stay_unbiased(app: App, answering: Any) -> None:
    """Every guarded answer is evaluated, with probability 1, as with a forced rule; what the coin said is noted."""
    app.instrument(sample_ratio=0.0)
    assert answering(guard=guard_of("block"))(ANSWER)["answer"] == REFUSAL
    span = app.span()
    assert (span["rag.sampling.reason"], span["rag.sampling.rule"]) == ("forced", "guard")
    assert (span["rag.sampling.probability"], span["rag.sampling.coin"]) == (1.0, False)
    assert app.evaluated()[0].evaluations[0].label == "unfaithful"


def test_a_policy_counts(app: App) -> None:
    """A drop rule holds: the answer is not judged, and leaves by default. A forced budget that is spent does too."""
    policy = SamplingPolicy(drop=[DropRule(name="health", route="health")], coin=Coin(rate=0.0))
    app.instrument(sampling_policy=policy, judge=rag_otel.JudgeSettings(budgets=["2 evaluations/hour"]))

    def made(name: str) -> str:
        @observe(name=name, guard=guard_of("block"))
        def answer(question: str) -> dict[str, Any]:
            return {"answer": ANSWER, "documents": [PASSAGE]}

        return str(answer(QUESTION)["answer"])

    assert [made("health"), made("ask"), made("ask")] == [ANSWER, REFUSAL, ANSWER]
    dropped, judged, refused = sorted(
        app.spans(), key=lambda s: ("dropped", None, "budget").index(s.get("rag.guard.reason"))
    )
    assert (dropped["rag.guard.outcome"], dropped["rag.guard.finding"]) == ("passed", "not_judged")
    assert (judged["rag.sampling.rule"], judged["rag.sampling.coin"]) == ("guard", False)
    assert refused["rag.evaluation.status_reason"] == "not_sampled"


def test_other_metrics_are_judged_afterwards(app: App, answering: Any) -> None:
    """Only the guard's metric is waited for; the span gets all of them, each once."""
    other = Judge()
    other.name = "helpfulness"
    other.gate.clear()
    app.instrument(evaluators=[other], evaluations_per_minute=6000)
    assert answering(guard=guard_of("block"))(ANSWER)["answer"] == REFUSAL
    other.gate.set()
    span = app.span()
    assert span["rag.evaluation.helpfulness.score"] == 1.0
    assert span["rag.evaluation.faithfulness.label"] == "unfaithful"
    assert (len(other.seen), len(app.evaluated())) == (1, 1)


def test_chunks_come_from_the_retrievers_below(app: App) -> None:
    """They are read as the span processor reads them."""
    app.instrument()

    @observe(guard=guard_of("remove"))
    def answer(question: str) -> str:
        retrieve(app.provider, PASSAGE)
        return ANSWER

    assert answer(QUESTION) == f"{GOOD} {ALSO_GOOD}"
    assert app.evaluated()[0].trace.chunks[0].text == PASSAGE


async def test_guard_inside_an_observed_call_is_its_evaluation(app: App) -> None:
    """The call that returns what the guard left is judged by what the guard has judged, and not again."""
    app.instrument()

    @observe
    async def answer(question: str) -> dict[str, Any]:
        first = await rag_otel.guard(question, [PASSAGE], BAD, guard_of("block"))
        assert not first.passed
        second = await rag_otel.guard(question, [PASSAGE], ANSWER, guard_of("remove"))
        return {"answer": second.response, "documents": [PASSAGE]}

    assert (await answer(QUESTION))["answer"] == f"{GOOD} {ALSO_GOOD}"
    span = app.span()
    assert (span["output.value"], span["rag.guard.response"]) == (ANSWER, f"{GOOD} {ALSO_GOOD}")
    assert [each.trace.response for each in app.evaluated()] == [ANSWER]


def test_a_call_that_is_not_recorded_is_guarded(app: App) -> None:
    """The application's own sampler has left the trace out: nothing is exported or delivered, and the guard works."""
    app.instrument(ALWAYS_OFF)

    @observe(guard=guard_of("remove"))
    def answer(question: str) -> str:
        record_chunks([PASSAGE])
        return ANSWER

    assert answer(QUESTION) == f"{GOOD} {ALSO_GOOD}"
    assert (app.spans(), app.evaluated()) == ([], [])


def test_answers_without_a_verdict(app: App, answering: Any) -> None:
    """Nothing to check passes; an answer without chunks is not judged, and the default applies."""
    app.instrument()
    assert rag_otel.guard_sync(QUESTION, [PASSAGE], "I do not know.", guard_of("block")).passed
    unread = rag_otel.guard_sync(QUESTION, None, ANSWER, guard_of("block", default="block"))
    assert (unread.response, unread.verdict.reason) == (REFUSAL, "no_chunks")
    assert rag_otel.guard_sync(QUESTION, [PASSAGE], "", guard_of("block", default="block")).passed
    # Without any chunk every claim is unsupported.
    assert rag_otel.guard_sync(QUESTION, [], ANSWER, guard_of("remove")).response == REFUSAL


def test_switched_off_everything_passes(app: App, answering: Any) -> None:
    """`enabled=False`, and after `uninstrument()`."""
    app.instrument(enabled=False)
    guarded = answering(guard=guard_of("block", default="block"))
    assert guarded(ANSWER)["answer"] == ANSWER
    app.instrument()
    assert guarded(ANSWER)["answer"] == REFUSAL
    rag_otel.uninstrument()
    assert guarded(ANSWER)["answer"] == ANSWER


@pytest.mark.parametrize("default", ["allow", "block"])
async def test_without_a_setup_the_default_applies(
    app: App, answering: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, default: Any
) -> None:
    """A wrong setting in the environment: functions, streams and `guard()` do what the guard says for no verdict."""
    monkeypatch.setenv("RAG_OTEL_RAISE_INTERNAL_ERRORS", "0")
    monkeypatch.setenv("RAG_OTEL_SAMPLE_RATIO", "much")
    monkeypatch.setattr("rag_otel.setup.runtime.in_use.taken_off", False)  # as if nothing was set up yet
    before = counters.get(f"guarded.{OUTCOME_OF[default]}.not_judged.no_setup")

    def stream(question: str) -> Any:
        yield from (GOOD + " ", BAD)

    left = {"allow": ANSWER, "block": REFUSAL}[default]
    assert answering(guard=Guard(default=default))(ANSWER)["answer"] == left
    guarded = await rag_otel.guard(QUESTION, [PASSAGE], ANSWER, default=default)
    assert (guarded.response, guarded.verdict.reason) == (left, "no_setup")
    held = list(observe(guard=Guard(default=default))(stream)(QUESTION))
    assert held == ([GOOD + " ", BAD] if default == "allow" else [REFUSAL])
    released = list(observe(guard=Guard(default=default, stream="release"))(stream)(QUESTION))
    assert released == [GOOD + " ", BAD if default == "allow" else f"\n\n{REFUSAL}"]
    assert counters.get(f"guarded.{OUTCOME_OF[default]}.not_judged.no_setup") == before + 4
    assert "RAG_OTEL_SAMPLE_RATIO" in caplog.text
    assert caplog.text.count("left its guard without a verdict: no_setup") <= 1  # once in a process


def test_a_guard_without_its_evaluator_is_told(app: App, answering: Any) -> None:
    """While the process is set up, or while the function is decorated, whichever comes later."""
    needy = Guard(metric="helpfulness", score_worse_than=0.5)
    app.instrument()
    with pytest.raises(ConfigurationError, match=r"needs the metric 'helpfulness'.*evaluators="):
        answering(guard=needy)
    rag_otel.uninstrument()
    decorated = answering(guard=needy)
    with pytest.raises(ConfigurationError, match="needs the metric 'helpfulness'"):
        app.instrument()
    judge = Judge()
    judge.name = "helpfulness"
    app.instrument(evaluators=[judge], evaluations_per_minute=6000)
    assert decorated(ANSWER)["answer"] == ANSWER
    assert app.span()["rag.guard.finding"] == "supported"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"action": "hide"}, "choose one of 'block'"),
        ({"deadline": 0}, "seconds above 0"),
        ({"action": "replace"}, "needs replacement="),
        ({"replacement": "no"}, "is not used"),
        ({"action": "remove", "stream": "release"}, "cannot be removed"),
        ({"metric": "helpfulness"}, "needs score_worse_than="),
        ({"risk_above": 3}, "within 0..1"),
    ],
)
def test_options_that_do_not_fit_together(options: dict[str, Any], message: str) -> None:
    """Each is refused by name, when the guard is made."""
    with pytest.raises(ConfigurationError, match=message):
        Guard(**options)


async def test_an_async_replacement_needs_an_async_function(app: App) -> None:
    """It is awaited there, and refused elsewhere."""
    app.instrument()

    async def again(verdict: GuardVerdict) -> str:
        await asyncio.sleep(0)
        return "Ask a person."

    guard = Guard(action="replace", replacement=again, deadline=PATIENT_S)
    assert (await rag_otel.guard(QUESTION, [PASSAGE], ANSWER, guard)).response == "Ask a person."
    with pytest.raises(ConfigurationError, match="is async"):
        rag_otel.guard_sync(QUESTION, [PASSAGE], ANSWER, guard)
    with pytest.raises(ConfigurationError, match="is async"):
        observe(guard=guard)(lambda question: ANSWER)
    with pytest.raises(ConfigurationError, match="known: action"):
        await rag_otel.guard(QUESTION, [PASSAGE], ANSWER, actions="block")
