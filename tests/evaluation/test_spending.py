"""What an evaluation has cost is told also when nothing came of it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence

import pytest

import rag_otel_evaluators
from rag_otel.delivery.retry import RetryPolicy
from rag_otel.evaluation.current_evaluation import metered, spend
from rag_otel.model import (
    Chunk,
    EvaluatedTrace,
    Evaluation,
    RagTrace,
    ReasonCode,
    SamplingDecision,
    SamplingReason,
    SpanRef,
    Usage,
)
from rag_otel.pipeline import Pipeline
from rag_otel.sampling.amount import RatioSampler
from rag_otel_evaluators.judges.cascade import CascadeJudge
from rag_otel_evaluators.judges.embedded import EmbeddedJudge
from rag_otel_evaluators.judges.judge import Judge
from rag_otel_evaluators.judges.llm_faithfulness import LlmJudge
from rag_otel_evaluators.metrics.faithfulness import Faithfulness
from testkit.judge_server import Hang, JudgeServer, ServerError
from testkit.when_used import llm_model
from testkit.word_overlap_judge import answer as oracle

CHUNK = Chunk(id="0", text="Ulm lies on the Danube.", position=0)
RESPONSE = "Ulm lies on the Danube. The minster of Ulm was once sold to a travelling circus."


@pytest.fixture
def server() -> Iterator[JudgeServer]:
    with JudgeServer(answer=oracle) as running:
        yield running


def two_steps(server: JudgeServer) -> LlmJudge:
    """The first step is paid for before the second one fails."""
    model = llm_model("openai/judge", api_base=server.url, retry=RetryPolicy(attempts=1))
    return LlmJudge(model=model, strategy="two_step")


async def evaluated(judge: Judge, timeout_s: float = 30.0) -> Evaluation:
    pipeline = Pipeline(
        conventions=(), sampler=RatioSampler(1.0), evaluators=(Faithfulness(judge=judge),), timeout_s=timeout_s
    )
    trace = RagTrace(
        target=SpanRef(trace_id="a" * 32, span_id="b" * 16),
        question="Where is Ulm?",
        chunks=(CHUNK,),
        response=RESPONSE,
    )
    decision = SamplingDecision(sampled=True, reason=SamplingReason.ALWAYS, probability=1.0)
    result: EvaluatedTrace = await pipeline.evaluate(trace, decision)
    (evaluation,) = result.evaluations
    return evaluation


async def test_a_failure_half_way_carries_what_was_paid_before(server: JudgeServer) -> None:
    """Tokens of the step that was answered, under the error of the one that was not."""
    server.fail_next(None, ServerError(401))
    result = await evaluated(two_steps(server))
    assert result.error_type is not None
    assert result.usage is not None
    assert result.usage.calls == 1
    assert result.usage.input_tokens > 0


async def test_running_out_of_time_carries_it_too() -> None:
    """The deadline cancels the evaluator, which can then tell nothing itself. Where the first step was not answered
    before it, a longer one is tried."""
    for timeout_s in (1.0, 5.0, 25.0):
        with JudgeServer(answer=oracle) as server:
            server.fail_next(None, Hang())
            result = await evaluated(two_steps(server), timeout_s=timeout_s)
        if len(server.requests) == 2:
            break
    assert result.reason_code == ReasonCode.TIMEOUT
    assert result.usage is not None
    assert result.usage.calls == 1


async def test_nothing_spent_is_no_usage(server: JudgeServer) -> None:
    """An evaluation that failed at its first call cost nothing that is known."""
    server.fail_next(ServerError(401))
    result = await evaluated(two_steps(server))
    assert result.error_type is not None
    assert result.usage is None


def test_rows_of_a_file_carry_it(server: JudgeServer) -> None:
    """Offline as in production, with the judge that failed."""
    server.fail_next(None, ServerError(401))
    rows = [{"question": "Where?", "contexts": [CHUNK.text], "response": RESPONSE}]
    results = rag_otel_evaluators.evaluate(rows, [Faithfulness(judge=two_steps(server))], progress=False)
    (evaluation,) = results.evaluations("faithfulness")
    assert evaluation.judge == "openai/judge"
    assert evaluation.usage is not None
    assert evaluation.usage.calls == 1


async def test_a_cascade_counts_the_judge_that_failed_it(server: JudgeServer) -> None:
    """The cheap judge's verdicts stand; what the expensive one had cost by then is on the bill."""
    server.fail_next(None, ServerError(401))
    result = await evaluated(
        CascadeJudge(
            cheap=EmbeddedJudge(), expensive=two_steps(server), sure_supported_from=1.0, sure_unsupported_to=0.0
        )
    )
    assert result.reason_code == ReasonCode.JUDGE_ERROR
    assert result.score is not None
    assert result.usage is not None
    assert result.usage.calls == 1


async def test_side_by_side_each_counts_its_own() -> None:
    """Evaluations under way at once do not see each other's spending; what is around them sees the sum."""

    async def evaluate(tokens: Sequence[int]) -> Usage | None:
        with metered() as spent:
            for each in tokens:
                await asyncio.sleep(0)
                spend(Usage(input_tokens=each, calls=1, cost_usd=0.5))
            return spent.usage

    with metered() as together:
        first, second = await asyncio.gather(evaluate([1, 2]), evaluate([10]))
    assert first == Usage(input_tokens=3, calls=2, cost_usd=1.0)
    assert second == Usage(input_tokens=10, calls=1, cost_usd=0.5)
    assert together.usage == Usage(input_tokens=13, calls=3, cost_usd=1.5)
