"""The first failure of a metric and kind is one warning with the way out; it quotes no answer."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import pytest

from rag_otel.errors import PermanentError, RetryableError
from rag_otel.evaluation.evaluate import evaluate
from rag_otel_evaluators.metrics.functions import function_evaluator

ANSWER = "The password is hunter2."


class Failing:
    """Raises, or takes too long."""

    name, version, judge_name = "failing", "1", "function"

    def __init__(self, error: Exception | None) -> None:
        self.error = error

    async def evaluate(self, **_: Any) -> Any:
        if self.error is None:
            await asyncio.sleep(3600)
        raise self.error or AssertionError


@pytest.mark.parametrize(
    ("error", "way_out"),
    [
        (RuntimeError(f"cannot parse {ANSWER}"), f"raised at {__file__}"),
        (RetryableError("no answer from localhost:1"), "no answer from localhost:1; check the judge's address"),
        (PermanentError("HTTP 401 from host"), "`rag-otel doctor`"),
        (None, "Raise evaluation_timeout (RAG_OTEL_EVALUATION_TIMEOUT)"),
    ],
)
def test_the_first_failure_is_one_warning(
    error: Exception | None, way_out: str, caplog: pytest.LogCaptureFixture
) -> None:
    for _ in range(3):
        failed = asyncio.run(evaluate(Failing(error), question=None, chunks=(), response=ANSWER, timeout_s=0.05))
        assert failed.error_type is not None
    (record,) = caplog.records
    assert record.levelno == logging.WARNING
    assert "metric failing cannot be evaluated" in record.getMessage()
    assert way_out in record.getMessage()
    assert ANSWER not in caplog.text


def test_a_function_that_raises_is_said(caplog: pytest.LogCaptureFixture) -> None:
    """A metric that makes data of its failures by itself is heard too."""

    @function_evaluator
    def broken(response: str) -> float:
        raise ValueError(response)

    for _ in range(3):
        asyncio.run(evaluate(broken, question=None, chunks=(), response=ANSWER, timeout_s=30))
    (record,) = caplog.records
    assert "metric broken cannot be evaluated: ValueError: raised at" in record.getMessage()
    assert ANSWER not in caplog.text
