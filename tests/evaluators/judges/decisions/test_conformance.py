"""Servers that break one requirement of System One each: jevcompat's reference server with every fault that it knows.

Source: github.com/mandu5/jevcompat, SPEC.md. Its answers depend on nothing but state, instructions and options.
"""

from __future__ import annotations

import threading
from typing import Any

import pytest

from rag_otel.errors import RagOtelError
from tests.evaluators.judges.decisions.kit import ANSWER, CHUNKS, KEY, QUESTION, metric_at

mock = pytest.importorskip("jevcompat.mock", reason="part of the extra `dev`")
NOTICED = {
    "wrong-route": "endpoint: HTTP 404",
    "xssi-200": "what came back is no decision",
    "auth-x-api-key": "auth: HTTP 403",
    "no-null-description": "request: HTTP 422: body.questions.e0.choice.criteria.c0",
    "first-question-only": "incomplete",
    "choice-sum": "parse_error",
}
"""Faults that leave claims without a verdict -> what is said."""
ANSWERS_DIFFER = {"id-leaks", "batch-leaks", "order-leaks"}
"""Faults of the model, which no answer shows."""


class Running(mock.Running):  # type: ignore[misc]  # the package ships no types
    """The reference server, which ends at once: its own waits half a second to see that it should."""

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        serve = self.server.serve_forever
        self.thread = threading.Thread(target=serve, kwargs={"poll_interval": 0.01}, daemon=True)


async def judged(*faults: str) -> tuple[str | None, list[Any]]:
    """(reason code or error, verdict and probability of each claim)"""
    with Running(mock.MockConfig(key=KEY, faults=frozenset(faults))) as server:
        metric = metric_at(f"{server.url}/v1", judge={"check_end": False})
        try:
            result = await metric.evaluate(question=QUESTION, chunks=CHUNKS, response=ANSWER)
        except RagOtelError as error:
            return str(error), []
    return result.reason_code, [(claim.verdict, claim.support_probability) for claim in result.claims]


@pytest.mark.parametrize("fault", mock.FAULTS)
async def test_no_fault_of_a_server_becomes_a_verdict(fault: str) -> None:
    """Verdicts are those of a server without it, or there are none and the reason is said."""
    said, verdicts = await judged(fault)
    expected = NOTICED.get(fault)
    if expected is not None:
        assert expected in str(said)
        assert sum(probability is not None for _, probability in verdicts) <= 1
    elif fault not in ANSWERS_DIFFER:
        assert (said, verdicts) == await judged()
    else:
        assert all(0 <= probability <= 1 for _, probability in verdicts)


async def test_a_busy_server_is_waited_for() -> None:
    """Every second request gets 429 with a Retry-After of 0."""
    with Running(mock.MockConfig(key=KEY, busy_every=2)) as server:
        metric = metric_at(f"{server.url}/v1", judge={"check_end": False})
        for _ in range(3):
            result = await metric.evaluate(question=QUESTION, chunks=CHUNKS, response=ANSWER)
            assert result.reason_code is None
            assert result.usage is not None
            assert result.usage.calls == 1
