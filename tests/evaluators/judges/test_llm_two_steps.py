"""The two-step strategy: statements first, checked against the answer; then their verdicts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from rag_otel.delivery.retry import RetryPolicy
from rag_otel.model import Evaluation, Verdict
from rag_otel_evaluators.judges.llm_faithfulness import LlmJudge
from rag_otel_evaluators.metrics.faithfulness import Faithfulness
from testkit.judge_server import JudgeRequest, JudgeServer, ServerError
from testkit.when_used import llm_model
from testkit.word_overlap_judge import answer as oracle
from testkit.word_overlap_judge import fields_of, items_of

pytestmark = pytest.mark.usefixtures("litellm_is_loaded")

CHUNKS = ["Marie Curie was born in Warsaw in 1867.", "Marie Curie won two Nobel Prizes."]
RESPONSE = "She was born in Warsaw in 1867. Marie Curie won two Nobel Prizes."


@pytest.fixture
def server() -> Iterator[JudgeServer]:
    with JudgeServer() as running:
        yield running


def statements(server: JudgeServer, *answers: list[tuple[int, str]]) -> None:
    """What the server says to the first step, call after call; the last one again and again."""
    calls = list(answers)

    def answer(request: JudgeRequest) -> Any:
        if "sentences" not in fields_of(request):
            return oracle(request)
        said = calls.pop(0) if len(calls) > 1 else calls[0]
        return {"statements": [{"sentence": number, "statement": text} for number, text in said]}

    server.answer = answer


async def evaluate(server: JudgeServer) -> Evaluation:
    retry = RetryPolicy(attempts=1)
    judge = LlmJudge(model=llm_model("openai/judge", api_base=server.url, retry=retry), strategy="two_step")
    return await Faithfulness(judge=judge).evaluate(question="Who was Marie Curie?", chunks=CHUNKS, response=RESPONSE)


def judged(result: Evaluation) -> list[str]:
    return [claim.claim.text for claim in result.claims]


GOOD = [
    (0, "Marie Curie was born in Warsaw."),
    (0, "Marie Curie was born in 1867."),
    (1, "Marie Curie won two Nobel Prizes."),
]


async def test_statements_are_judged_in_the_place_of_their_sentence(server: JudgeServer) -> None:
    """Pronouns are resolved; each part keeps the sentence's index and span, so that it can be shown there."""
    statements(server, GOOD)
    result = await evaluate(server)
    assert judged(result) == [text for _, text in GOOD]
    assert [claim.claim.sentence_index for claim in result.claims] == [0, 0, 1]
    assert {RESPONSE[claim.claim.start : claim.claim.end] for claim in result.claims[:2]} == {
        "She was born in Warsaw in 1867."
    }
    assert result.score == 1.0
    assert all(claim.explanation for claim in result.claims)
    assert "two_step-strict" in result.version
    assert [reference.partition("/")[0] for reference in result.prompts] == ["faithfulness_statements", "faithfulness"]
    assert result.usage is not None
    assert result.usage.calls == len(server.requests) == 2


async def test_a_sentence_that_was_dropped_is_asked_again(server: JudgeServer) -> None:
    """Alone; its statements take their place in the order of the answer."""
    statements(server, GOOD[2:], [(0, "Marie Curie was born in Warsaw in 1867.")])
    assert judged(await evaluate(server)) == ["Marie Curie was born in Warsaw in 1867.", GOOD[2][1]]
    again = fields_of(server.requests[1])["sentences"]
    assert list(items_of(again).values()) == ["She was born in Warsaw in 1867."]


async def test_a_sentence_that_is_dropped_again_stands_for_itself(server: JudgeServer) -> None:
    """Nothing of the answer goes unjudged because a model left it out."""
    statements(server, GOOD[2:], [])
    assert judged(await evaluate(server)) == ["She was born in Warsaw in 1867.", GOOD[2][1]]


async def test_a_statement_said_twice_counts_once(server: JudgeServer) -> None:
    """Also in other case and punctuation: doubled statements would weigh double in the score."""
    statements(server, [*GOOD, (0, "marie curie was born in warsaw")])
    result = await evaluate(server)
    assert judged(result) == [text for _, text in GOOD]
    assert "twice" in (result.explanation or "")


@pytest.mark.parametrize(
    "invented",
    ["Radium glows faintly blue at night.", "Marie Curie was born in Warsaw in 1868."],
    ids=["other words", "another number"],
)
async def test_a_statement_that_the_answer_does_not_make_is_set_aside(server: JudgeServer, invented: str) -> None:
    """What a model adds of its own is neither judged nor hidden."""
    statements(server, [*GOOD, (1, invented)])
    result = await evaluate(server)
    assert judged(result) == [text for _, text in GOOD]
    assert invented in (result.explanation or "")


@pytest.mark.parametrize(
    "answers",
    [[[*GOOD, (9, "Marie Curie won.")], GOOD], [[(number + 1, text) for number, text in GOOD]]],
    ids=["sentence 9 of 2 does not exist: asked again", "counted from 1"],
)
async def test_statements_stand_in_their_own_sentences(
    server: JudgeServer, answers: list[list[tuple[int, str]]]
) -> None:
    """However the model counts the sentences, and not a statement is used while a number does not fit."""
    statements(server, *answers)
    result = await evaluate(server)
    assert [(claim.claim.sentence_index, claim.claim.text) for claim in result.claims] == GOOD
    assert len(server.requests) == len(answers) + 1


async def test_words_tell_the_sentence_where_numbers_fit_two(server: JudgeServer) -> None:
    """A greeting has no statement: 1 of two sentences is the last from 0, or the first from 1."""
    judge = LlmJudge(model=llm_model("openai/judge", api_base=server.url), strategy="two_step")
    for number, text, index in [(1, GOOD[2][1], 1), (1, GOOD[0][1], 0)]:
        statements(server, [(number, text)], [])
        result = await Faithfulness(judge=judge).evaluate(question=None, chunks=CHUNKS, response=RESPONSE)
        assert (index, text) in [(claim.claim.sentence_index, claim.claim.text) for claim in result.claims]


async def test_statements_of_no_sentence_are_not_used(server: JudgeServer) -> None:
    """Also when asked again: the sentences stand for themselves, and the result says why."""
    statements(server, [*GOOD, (9, "Marie Curie won.")])
    result = await evaluate(server)
    assert judged(result) == ["She was born in Warsaw in 1867.", GOOD[2][1]]
    assert "not used" in (result.explanation or "")


async def test_a_failure_while_asking_again_keeps_what_is_known(server: JudgeServer) -> None:
    """The sentence still missing stands for itself, and all are judged."""
    statements(server, GOOD[2:])
    server.fail_next(None, ServerError(500))
    result = await evaluate(server)
    assert judged(result) == ["She was born in Warsaw in 1867.", GOOD[2][1]]
    assert Verdict.UNJUDGED not in [claim.verdict for claim in result.claims]
    assert "asking again failed" in (result.explanation or "")


async def test_statements_in_a_script_without_spaces_are_compared_by_character(server: JudgeServer) -> None:
    """Chinese words are not told apart by spaces: a faithful split is not taken for an invention."""
    said = [(0, "玛丽·居里出生于华沙。"), (0, "玛丽·居里出生于1867年。")]
    statements(server, said)
    judge = LlmJudge(model=llm_model("openai/judge", api_base=server.url), strategy="two_step", language="zh")
    result = await Faithfulness(judge=judge).evaluate(
        question="玛丽·居里是谁？", chunks=["玛丽·居里1867年出生于华沙。"], response="她于1867年出生于华沙。"
    )
    assert judged(result) == [text for _, text in said]


@pytest.mark.parametrize(
    ("response", "statement"),
    [
        ("Two people died in the fire.", "2 people died in the fire."),
        ("Revenue rose by 1.5 million dollars.", "Revenue rose by 1,500,000 dollars."),
        ("Elle vécut encore dix ans.", "Elle vécut encore 10 ans."),
        ("Hatte er zwölf Kinder? Er hatte zwölf Kinder.", "Er hatte 12 Kinder."),
        ("大火中有两人死亡。", "大火中有2人死亡。"),
        ("公司收入为125万元。", "公司收入为1250000元。"),
        ("The vote was 1,250 to 3.", "The vote was 1.250 to three."),
        ("Count: one two three four five six seven eight nine ten.", "Count: one two three four five six seven."),
    ],
)
async def test_a_number_in_words_is_the_number_in_figures(server: JudgeServer, response: str, statement: str) -> None:
    """A statement that writes a number in another way is no invention; and nothing of the answer is erased."""
    statements(server, [(0, statement)])
    judge = LlmJudge(model=llm_model("openai/judge", api_base=server.url), strategy="two_step")
    result = await Faithfulness(judge=judge).evaluate(question=None, chunks=["Nothing here."], response=response)
    assert len(result.claims) == 1
    assert judged(result)[0] in (statement, response, response.partition("? ")[2])
    assert result.score == 0.0


async def test_a_sentence_that_a_statement_distorts_stands_for_itself(server: JudgeServer) -> None:
    """The dropped statement may have been what the answer gets wrong: the good ones beside it do not stand for it."""
    statements(server, [(0, "Marie Curie was born in Warsaw."), (0, "Marie Curie was born in 1876."), GOOD[2]])
    assert judged(await evaluate(server)) == ["She was born in Warsaw in 1867.", GOOD[2][1]]
