"""Statements by a language model, verdicts by a classifier: nothing dropped, doubled or invented on the way."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_otel.cli.main import main
from rag_otel.delivery.retry import RetryPolicy
from rag_otel.errors import ConfigurationError, RetryableError
from rag_otel.model import Evaluation, Verdict
from rag_otel_evaluators.build import build_evaluators
from rag_otel_evaluators.judges.embedded import EmbeddedJudge
from rag_otel_evaluators.judges.judge import Judge
from rag_otel_evaluators.judges.statements import StatementsJudge
from rag_otel_evaluators.metrics.faithfulness import Faithfulness
from rag_otel_evaluators.offline.config import make_config
from testkit.judge_server import JudgeRequest, JudgeServer, ServerError, doubled_item
from testkit.when_used import llm_model
from testkit.word_overlap_judge import answer as oracle
from testkit.word_overlap_judge import fields_of

CHUNKS = ["Marie Curie was born in Warsaw in 1867.", "Marie Curie won two Nobel Prizes."]
RESPONSE = "She was born in Warsaw in 1867. She won three Nobel Prizes, and the circus bought her minster."
GOOD = [
    (0, "Marie Curie was born in Warsaw."),
    (0, "Marie Curie was born in 1867."),
    (1, "Marie Curie won three Nobel Prizes."),
    (1, "The circus bought the minster of Marie Curie."),
]


@pytest.fixture
def server() -> Iterator[JudgeServer]:
    with JudgeServer() as running:
        yield running


def say(server: JudgeServer, *answers: list[tuple[int, str]]) -> None:
    """What the server says, call after call; the last one again and again."""
    calls = list(answers)

    def answer(request: JudgeRequest) -> Any:
        said = calls.pop(0) if len(calls) > 1 else calls[0]
        return {"statements": [{"sentence": number, "statement": text} for number, text in said]}

    server.answer = answer


async def evaluate(server: JudgeServer, classifier: Judge | None = None) -> Evaluation:
    model = llm_model("openai/judge", api_base=server.url, retry=RetryPolicy(attempts=1))
    judge = StatementsJudge(model=model, classifier=classifier or EmbeddedJudge())
    return await Faithfulness(judge=judge).evaluate(question="Who was Marie Curie?", chunks=CHUNKS, response=RESPONSE)


def judged(result: Evaluation) -> list[str]:
    return [claim.claim.text for claim in result.claims]


async def test_one_call_and_the_classifiers_verdicts(server: JudgeServer) -> None:
    """Each statement is judged by its own words, in the place of its sentence, with verbatim quotes and a reason."""
    say(server, GOOD)
    result = await evaluate(server)
    assert judged(result) == [text for _, text in GOOD]
    assert [claim.verdict is Verdict.SUPPORTED for claim in result.claims] == [True, True, False, False]
    assert result.score == 0.5
    assert [claim.claim.sentence_index for claim in result.claims] == [0, 0, 1, 1]
    assert {RESPONSE[v.claim.start : v.claim.end] for v in result.claims[:2]} == {"She was born in Warsaw in 1867."}
    assert all(
        quote.text == CHUNKS[int(quote.chunk_id)][quote.start : quote.end] for v in result.claims for quote in v.quotes
    )
    assert all(claim.explanation for claim in result.claims)
    assert result.judge == "statements(openai/judge,embedded)"
    assert "classifier-4+" in result.version
    assert [reference.partition("/")[0] for reference in result.prompts] == ["faithfulness_statements"]
    assert result.usage is not None
    assert result.usage.calls == len(server.requests) == 1


async def test_hhem_judges_statements_too(server: JudgeServer, hhem_folder: Path) -> None:
    """Any judge of claims is a classifier here; its probability stands beside each statement."""
    from rag_otel_evaluators.judges.hhem import hhem_judge  # with torch

    say(server, GOOD)
    result = await evaluate(server, hhem_judge(hhem_folder))
    assert judged(result) == [text for _, text in GOOD]
    assert all(claim.support_probability is not None for claim in result.claims)
    assert result.risk == pytest.approx(max(1.0 - (claim.support_probability or 0.0) for claim in result.claims))


async def test_a_sentence_that_is_dropped_twice_stands_for_itself(server: JudgeServer) -> None:
    """It is asked about once more, alone; then the classifier gets the sentence as it is."""
    say(server, GOOD[2:], [])
    assert judged(await evaluate(server)) == ["She was born in Warsaw in 1867.", *(text for _, text in GOOD[2:])]
    assert "three" not in fields_of(server.requests[1])["sentences"]


async def test_doubled_and_invented_statements_are_set_aside(server: JudgeServer) -> None:
    """They would weigh in the score; the explanation names them."""
    say(server, [*GOOD, GOOD[0], (1, "Radium glows faintly blue at night.")])
    result = await evaluate(server)
    second = "She won three Nobel Prizes, and the circus bought her minster."  # of it something was set aside
    assert judged(result) == [*(text for _, text in GOOD[:2]), second]
    assert all(word in (result.explanation or "") for word in ("twice", "Radium"))


async def test_a_failure_while_asking_again_keeps_what_is_known(server: JudgeServer) -> None:
    """The statements that came are judged, the sentence without any stands for itself."""
    say(server, GOOD[2:])
    server.fail_next(None, ServerError(500))
    result = await evaluate(server)
    assert judged(result)[0] == "She was born in Warsaw in 1867."
    assert Verdict.UNJUDGED not in [claim.verdict for claim in result.claims]
    assert "asking again failed" in (result.explanation or "")


async def test_a_model_that_is_away_is_an_error(server: JudgeServer) -> None:
    """Nothing is judged on other claims than the strategy promises."""
    server.fail_next(ServerError(500))
    with pytest.raises(RetryableError):
        await evaluate(server)


@settings(max_examples=25, deadline=None)
@given(
    said=st.lists(
        st.tuples(st.integers(-1, 3), st.sampled_from([text for _, text in GOOD] + ["", "Zzz qqq."])), max_size=9
    )
)
def test_whatever_the_model_says_every_sentence_is_judged_once(said: list[tuple[int, str]]) -> None:
    """Every sentence has a statement, no statement is there twice or from outside, every number is within its range."""
    with JudgeServer() as server:
        say(server, said)
        model = llm_model("openai/judge", api_base=server.url, retry=RetryPolicy(attempts=1))
        judge = StatementsJudge(model=model, classifier=EmbeddedJudge())
        result = Faithfulness(judge=judge).evaluate_sync(question="Who?", chunks=CHUNKS, response=RESPONSE)
    texts = judged(result)
    assert {claim.claim.sentence_index for claim in result.claims} == {0, 1}
    assert [claim.claim.sentence_index for claim in result.claims] == sorted(
        claim.claim.sentence_index for claim in result.claims
    )
    assert "Zzz qqq." not in texts
    assert result.score is not None
    assert 0.0 <= result.score <= 1.0


def test_from_the_command_line(
    server: JudgeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`rag-otel evaluate --strategy classifier`: the detail names both judges, and the answer is split by the model."""
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    server.answer = oracle
    source, output = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_text(json.dumps({"question": "Who?", "contexts": CHUNKS, "response": RESPONSE}))
    command = ["evaluate", str(source), "--judge", "openai/judge", "--api-base", server.url, "--strategy", "classifier"]
    assert main([*command, "--output", str(output)]) == 0
    (row,) = map(json.loads, output.read_text().splitlines())
    assert row["faithfulness_detail"]["judge"] == "statements(openai/judge,embedded)"
    assert len(row["faithfulness_detail"]["claims"]) == 3
    assert row["faithfulness_detail"]["usage"]["calls"] == 1
    capsys.readouterr()


@pytest.mark.parametrize(
    ("judge", "message"),
    [
        ({"classifier": "nobody"}, "neither `embedded` nor `hhem"),
        ({"reading": "lenient"}, "has only `strict`"),
    ],
)
def test_what_does_not_go_together_is_named(judge: dict[str, str], message: str) -> None:
    """Before anything is judged."""
    values = {"judge": {"model": "openai/judge", "strategy": "classifier", **judge}, "cache": False}
    with ExitStack() as resources, pytest.raises(ConfigurationError, match=message):
        build_evaluators(make_config(values, source="test"), resources)


def test_hhem_by_name_behind_a_cascade(hhem_folder: Path) -> None:
    """Statements of the uncertain claims alone, judged by the classifier that the configuration names."""
    settings = {"model": "cascade/openai/judge", "strategy": "classifier", "classifier": f"hhem/{hhem_folder}"}
    with ExitStack() as resources:
        (metric,) = build_evaluators(make_config({"judge": settings, "cache": False}, source="test"), resources)
    assert metric.judge_name == f"cascade(embedded,statements(openai/judge,hhem/{hhem_folder.name}))"


def test_a_repeated_answer_is_one_answer(server: JudgeServer) -> None:
    """A model that says its first item twice changes nothing."""
    server.answer = lambda request: doubled_item(
        {"statements": [{"sentence": number, "statement": text} for number, text in GOOD]}
    )
    model = llm_model("openai/judge", api_base=server.url)
    judge = StatementsJudge(model=model, classifier=EmbeddedJudge())
    result = Faithfulness(judge=judge).evaluate_sync(question="Who?", chunks=CHUNKS, response=RESPONSE)
    assert judged(result) == [text for _, text in GOOD]
