"""What goes over the wire in both forms, and what is made of the answer. Real HTTP; OpenAI's types check its form."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from collections.abc import Iterator

import pytest

from rag_otel.cli.demo.phoenix_server import free_port
from rag_otel.errors import ConfigurationError, PermanentError
from rag_otel.model import Verdict
from rag_otel_evaluators.judges.decision_model import decision_model
from rag_otel_evaluators.llm.decisions.providers import PROVIDERS, price_of
from testkit.decision_server import DecisionServer
from testkit.polling import eventually
from testkit.when_used import WhenUsed
from tests.evaluators.judges.decisions.kit import ANSWER, CHUNKS, CLAIMS, KEY, OPENAI, QUESTION, SYSTEM_ONE, metric_at

openai = WhenUsed("openai")

EXPECTED = [Verdict.SUPPORTED, Verdict.CONTRADICTED, Verdict.NOT_ENOUGH_INFO]


@pytest.fixture(scope="module")
def jevcompat() -> Iterator[str]:
    """jevcompat's mock of System One: the address up to its version."""
    pytest.importorskip("jevcompat", reason="part of the extra `dev`")
    port = free_port()
    command = [sys.executable, "-m", "jevcompat.cli", "mock", "--port", str(port), "--key", KEY]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as running:
        try:
            eventually(lambda: _listens(port))
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            running.terminate()


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.mark.parametrize(("model", "path"), [(OPENAI, "/v1/decisions"), (SYSTEM_ONE, "/v1/systemone")])
async def test_one_request_gives_verdicts_evidence_and_cost(server: DecisionServer, model: str, path: str) -> None:
    """Both forms, one request: three verdicts apart, chunk ids, verbatim quotes, tokens."""
    result = await metric_at(server.url, model).evaluate(question=QUESTION, chunks=CHUNKS, response=ANSWER)
    assert server.paths == [path]
    assert [claim.verdict for claim in result.claims] == EXPECTED
    assert [claim.support_probability for claim in result.claims] == [0.94, 0.03, 0.03]
    assert [claim.chunk_ids for claim in result.claims] == [("0",), ("0",), ()]
    for claim in result.claims[:2]:
        (quote,) = claim.quotes
        assert quote.text == CHUNKS[0][quote.start : quote.end] == CLAIMS[0]
    assert (result.score, result.label, result.reason_code) == (pytest.approx(1 / 3), "unfaithful", None)
    assert result.usage is not None
    assert result.usage.calls == 1
    assert result.usage.input_tokens == len(json.dumps(server.bodies[0])) // 4
    assert result.usage.cost_usd == (pytest.approx(result.usage.input_tokens * 1e-7) if model == OPENAI else None)
    assert (result.judge, result.answered_by) == (model, None)


async def test_claims_are_data_and_passages_stand_in_the_state_alone(server: DecisionServer) -> None:
    """A claim cannot name a field, leave its quotation marks or smuggle control characters."""
    response = "Pro` costs» 20 \u202edollars\x07 a month in `passages`."
    await metric_at(server.url).evaluate(question=QUESTION, chunks=CHUNKS, response=response)
    (body,) = server.bodies
    asked = body["questions"]["k0"]["instructions"]
    assert asked.endswith("Claim: «Pro' costs\" 20 dollars a month in 'passages'.»")
    assert body["state"]["passages"] == {"c0": CHUNKS[0], "c1": CHUNKS[1]}
    assert not any("Berlin" in question["instructions"] for question in body["questions"].values())
    assert list(body["state"]) == ["question", "passages", "note"]


async def test_openais_own_client_sends_the_same(server: DecisionServer) -> None:
    """OpenAI's client gets an answer to our body from the same server, and no cache is written at a price."""
    await metric_at(server.url, OPENAI).evaluate(question=QUESTION, chunks=CHUNKS, response=ANSWER)
    (body,) = server.bodies
    assert body["prompt_cache_options"] == {"mode": "explicit"}
    answer = openai.OpenAI(base_url=server.url, api_key="k").decisions.create(**body)
    assert server.bodies[1] == body
    assert answer.answers[0].name == "k0"


async def test_a_server_of_another_maker_understands_us(jevcompat: str) -> None:
    """jevcompat's mock answers at random: every claim gets a distribution, and a wrong key is said to be wrong."""
    metric = metric_at(jevcompat, judge={"check_end": False})
    result = await metric.evaluate(question=QUESTION, chunks=CHUNKS, response=ANSWER)
    assert all(claim.support_probability is not None for claim in result.claims)
    assert result.answered_by == "decisions/systemone/jevcompat-mock-0.1"
    assert result.usage is not None
    assert result.usage.input_tokens > 0
    with pytest.raises(PermanentError, match="auth: HTTP 401: Cannot authenticate"):
        await metric_at(jevcompat, api_key="wrong").evaluate(question=QUESTION, chunks=CHUNKS, response=ANSWER)
    guessing = await metric_at(jevcompat).evaluate(question=QUESTION, chunks=CHUNKS, response=ANSWER)
    assert guessing.reason_code == "state_cut"


async def test_a_provider_of_litellms_is_asked_through_it(server: DecisionServer, litellm_is_loaded: None) -> None:
    """vLLM by its litellm name; the answer is the same."""
    metric = metric_at(server.url, "decisions/hosted_vllm/qwen3")
    result = await metric.evaluate(question=QUESTION, chunks=CHUNKS, response=ANSWER)
    assert [claim.verdict for claim in result.claims] == EXPECTED
    assert server.paths == ["/v1/systemone"]
    assert result.usage is not None
    assert result.usage.calls == 1


def test_names_and_keys_are_checked_at_start_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """No model, no key, no address: each says what is missing."""
    for provider in PROVIDERS.values():
        monkeypatch.delenv(provider.key, raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with pytest.raises(ConfigurationError, match="write decisions/<provider>/<model>"):
        decision_model("decisions/openai")
    for name, key in (("typesafe/jev-1.13.0", "TYPESAFE_API_KEY"), ("perplexity/x", "PERPLEXITY_API_KEY")):
        with pytest.raises(ConfigurationError, match=key):
            decision_model(f"decisions/{name}")
    with pytest.raises(ConfigurationError, match="judge_api_base"):
        decision_model("decisions/systemone/laya")
    monkeypatch.setenv("TYPESAFE_API_KEY", KEY)
    assert decision_model("decisions/typesafe/jev-1.13.0").name == "decisions/typesafe/jev-1.13.0"


async def test_a_price_is_that_of_the_longest_name_that_fits_or_ones_own(server: DecisionServer) -> None:
    """Unknown is unknown: a server of one's own has no price until one is given."""
    flash, other = price_of("perplexity/pplx-decider-flash"), price_of("perplexity/pplx-decider-v1.2")
    assert flash is not None
    assert other is not None
    assert (flash.usd, other.usd) == (0.01, 0.02)
    assert price_of("systemone/laya") is None
    metric = metric_at(server.url, input_price=0.2)
    usage = (await metric.evaluate(question=QUESTION, chunks=CHUNKS, response=ANSWER)).usage
    assert usage is not None
    assert usage.cost_usd == pytest.approx(usage.input_tokens * 2e-7)


async def test_the_version_that_answered_is_kept(server: DecisionServer) -> None:
    """An alias stands for a version that changes."""
    server.model = "jev-1.14.0"
    metric = metric_at(server.url, "decisions/typesafe/jev-latest")
    result = await metric.evaluate(question=QUESTION, chunks=CHUNKS, response=ANSWER)
    assert (result.judge, result.answered_by) == ("decisions/typesafe/jev-latest", "decisions/typesafe/jev-1.14.0")
