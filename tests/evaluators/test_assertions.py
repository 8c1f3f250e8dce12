"""`assert_faithful`: what passes, what fails, what the failure says."""

from __future__ import annotations

from typing import Any

import pytest

from rag_otel.errors import RagOtelError
from rag_otel.model import Claim, ClaimVerdict, Evaluation, ReasonCode, Verdict
from rag_otel_evaluators import assert_faithful
from testkit.judge_server import JudgeServer, ServerError

CHUNKS = ["The tower is 330 metres high and was finished in 1889."]
RIGHT = "The tower is 330 metres high."
WRONG = "The tower is 330 metres high. It was finished in 1925."


def test_a_faithful_answer_passes() -> None:
    """And its evaluation is returned."""
    assert assert_faithful("How high?", CHUNKS, RIGHT).score == 1.0


def test_the_failure_names_the_unsupported_claims() -> None:
    """With the nearest passage, the question and the judge, and not the supported ones."""
    with pytest.raises(AssertionError) as failure:
        assert_faithful("When was it finished?", CHUNKS, WRONG)
    said = str(failure.value)
    assert said.startswith("the answer is not faithful: 1 of 2 claims are supported (0.50), at least 1.00 is required")
    assert "contradicted: 'It was finished in 1925.'" in said
    assert "nearest passage, chunk 0: 'The tower is 330 metres high and was finished in 1889.'" in said
    assert "question: When was it finished?" in said
    assert "judge: embedded, version" in said
    assert repr(RIGHT) not in said


def test_the_threshold_is_a_share_of_claims() -> None:
    """One of two claims is enough for 0.5."""
    assert assert_faithful(None, CHUNKS, WRONG, threshold=0.5).score == 0.5
    with pytest.raises(AssertionError, match=r"at least 0\.60"):
        assert_faithful(None, CHUNKS, WRONG, threshold=0.6)
    with pytest.raises(ValueError, match="threshold must be within"):
        assert_faithful(None, CHUNKS, RIGHT, threshold=80)


def test_an_abstention_is_the_callers_choice() -> None:
    """It says nothing unsupported, but may not be what the test wants."""
    assert assert_faithful("How old?", CHUNKS, "I don't know.").reason_code == ReasonCode.ABSTAINED
    with pytest.raises(AssertionError, match="the answer makes no claim"):
        assert_faithful("How old?", CHUNKS, "I don't know.", allow_abstention=False)


def test_claims_without_chunks_fail() -> None:
    """Nothing supports them."""
    with pytest.raises(AssertionError, match="no chunks were given"):
        assert_faithful("How high?", [], RIGHT)


async def test_in_an_async_test() -> None:
    """It blocks, and works."""
    assert assert_faithful("How high?", CHUNKS, RIGHT).score == 1.0


def test_a_language_model_as_judge(judge_server: JudgeServer) -> None:
    """A judge that cannot be reached is neither a pass nor an unfaithful answer."""
    settings = {"model": "openai/test-judge", "api_base": judge_server.url, "timeout": 5}
    judge_server.answer = lambda request: {
        "verdicts": [{"claim": 0, "evidence": ["c0.s0"], "reason": "r", "verdict": "supported"}]
    }
    assert assert_faithful("How high?", CHUNKS, RIGHT, judge=settings).judge == "openai/test-judge"
    judge_server.fail_next(*[ServerError(status=401)] * 5)
    with pytest.raises(RagOtelError, match="could not be judged: "):
        assert_faithful("How high?", CHUNKS, RIGHT + " Really.", judge=settings)


def test_an_answer_that_was_judged_in_part() -> None:
    """Its unjudged claims may be unsupported."""

    class Half:
        name, version, judge_name = "faithfulness", "1", "half"

        async def evaluate(self, **case: Any) -> Evaluation:
            claim = Claim(text="It is high.", sentence_index=0, start=0, end=11)
            verdicts = [ClaimVerdict(claim=claim, verdict=each) for each in (Verdict.SUPPORTED, Verdict.UNJUDGED)]
            return Evaluation(name="faithfulness", score=1.0, claims=tuple(verdicts), reason_code="incomplete")

    with pytest.raises(RagOtelError, match="judged only in part: incomplete"):
        assert_faithful(None, CHUNKS, RIGHT, judge=Half())
    assert assert_faithful(None, CHUNKS, RIGHT, judge=Half(), threshold=0.5).score == 1.0


@pytest.fixture
def judge_server() -> Any:
    with JudgeServer() as server:
        yield server
