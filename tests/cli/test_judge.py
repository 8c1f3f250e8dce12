"""`rag-otel judge check`, with judges whose answers are known beforehand."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Callable, Iterator
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

from rag_otel.cli.main import main
from rag_otel_evaluators.contrast.pairs import choose, load_pairs
from rag_otel_evaluators.text.claim_segmentation import segment
from testkit.judge_server import JudgeRequest, JudgeServer, ServerError
from testkit.word_overlap_judge import fields_of, items_of

SUMS = Path(__file__).parents[2] / "benchmarks" / "contrast" / "SHA256SUMS"


@pytest.fixture
def server() -> Iterator[JudgeServer]:
    with JudgeServer() as running:
        yield running


def claims_of(answer: str) -> set[str]:
    return {" ".join(claim.text.split()) for claim in segment(answer).claims}


WRONG = {claim for pair in load_pairs() for claim in claims_of(pair.unfaithful) - claims_of(pair.faithful)}


def saying(verdict: Callable[[str], str]) -> Callable[[JudgeRequest], Any]:
    """A judge that gives each claim the verdict of `verdict`."""
    return lambda request: {
        "verdicts": [
            {"claim": int(n), "evidence": ["c0.s0"], "verdict": verdict(claim), "confidence": 0.95}
            for n, claim in items_of(fields_of(request)["claims"]).items()
        ]
    }


def right(claim: str) -> str:
    return "not_enough_info" if claim in WRONG else "supported"


def check(server: JudgeServer, *options: str) -> int:
    return main(["judge", "check", "--judge", "openai/scripted", "--api-base", server.url, *options])


def test_a_judge_that_is_right_is_good_enough(
    server: JudgeServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every phenomenon and language in the sample, with intervals, calls and a conclusion; and all of it as JSON."""
    server.answer = saying(right)
    file = tmp_path / "figures.json"
    assert check(server, "--limit", "110", "--stress", "0", "--output", str(file)) == 0
    shown = capsys.readouterr().out
    assert "Good enough to page on" in shown
    assert all(word in shown for word in ("multi_hop", "zh", "told apart", "latency", "tokens in"))
    figures = json.loads(file.read_text(encoding="utf-8"))
    assert len(figures["by_phenomenon"]) == 22
    assert sorted(figures["by_language"]) == ["de", "en", "es", "fr", "zh"]
    assert figures["all"]["pairs"] == 110
    assert figures["all"]["ordered"]["value"] > 0.95
    assert figures["all"]["labels"]["interval"][0] <= figures["all"]["labels"]["value"]
    assert figures["expense"]["calls"] == len(server.requests)
    assert len(server.requests) == round(220 * (1 - figures["all"]["without_verdict"]))  # each judged answer once


def test_a_judge_that_supports_everything_is_not(server: JudgeServer, capsys: pytest.CaptureFixture[str]) -> None:
    """It agrees with half of the answers and tells nothing apart."""
    server.answer = saying(lambda claim: "supported")
    assert check(server, "--limit", "110") == 1
    shown = capsys.readouterr().out
    assert "Not good enough to page on" in shown
    assert "catch only 0%" in shown


def test_answers_that_cannot_be_read_are_counted(server: JudgeServer, capsys: pytest.CaptureFixture[str]) -> None:
    """Malformed answers are no verdicts, and are said to be malformed."""
    server.answer = lambda request: "It depends."
    assert check(server, "--limit", "3", "--language", "es") == 1
    shown = capsys.readouterr().out
    assert "parse_error" in shown
    assert "got no verdict" in shown


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--language", "it"), "no pair is of it"),
        (("--phenomenon", "irony"), "multi_hop"),
        (("--prevalence", "0"), "prevalence"),
    ],
)
def test_what_there_is_not_is_said(
    server: JudgeServer, capsys: pytest.CaptureFixture[str], options: tuple[str, str], message: str
) -> None:
    """Before anything is asked."""
    assert check(server, *options) == 2
    assert message in capsys.readouterr().err
    assert server.requests == []


def test_the_sets_are_frozen() -> None:
    """What is packed is what the checksums are of."""
    folder = resources.files("rag_otel_evaluators.contrast")
    for line in SUMS.read_text(encoding="utf-8").splitlines():
        expected, name = line.split()
        unpacked = gzip.decompress(folder.joinpath(f"{name}.gz").read_bytes())
        assert hashlib.sha256(unpacked).hexdigest() == expected


def test_a_sample_is_of_every_kind_and_always_the_same() -> None:
    """110 pairs: one of each of 22 phenomena in five languages; another seed, other pairs."""
    pairs = load_pairs()
    sample = choose(pairs, limit=110, seed=3)
    assert len({(pair.language, pair.phenomenon) for pair in sample}) == 110
    assert sample == choose(pairs, limit=110, seed=3)
    assert sample != choose(pairs, limit=110, seed=4)
    assert len(choose(pairs, languages=["zh"], phenomena=["date"])) == 7
    assert choose(pairs) == pairs
    assert len(pairs) == 919


@pytest.mark.slow(reason="calls that are refused are tried again, as in production")
def test_a_judge_that_cannot_be_reached_has_no_figures(
    capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    """No table of zeros that look measured, and no wait until the judge may be called again: what is wrong, and exit
    code 2."""
    with JudgeServer() as server:
        url = server.url
    file = tmp_path / "figures.json"
    command = ["judge", "check", "--judge", "openai/gone", "--api-base", url, "--limit", "3", "--output", str(file)]
    assert main(command) == 2
    shown = capsys.readouterr()
    assert f"openai/gone cannot be reached: connection: no connection to {url.split('/')[2]}" in shown.err
    assert caplog.text.count("is not called for") <= 1, "the breaker was not waited for"
    assert "told apart" not in shown.out
    assert not file.exists()


def test_a_budget_without_a_price_is_refused_before_the_first_call(
    server: JudgeServer, capsys: pytest.CaptureFixture[str]
) -> None:
    assert check(server, "--budget-usd", "1") == 2
    assert "--budget-usd needs a price, and none is known" in capsys.readouterr().err
    assert server.requests == []


def test_answers_that_the_server_failed_on_are_no_mistakes_of_the_judge(
    server: JudgeServer, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """They are left out and told; with many of them there is no conclusion to page on."""
    server.answer = saying(right)
    file = tmp_path / "figures.json"
    server.fail_next(*[ServerError(400), None, None, None] * 15)
    assert check(server, "--limit", "120", "--concurrency", "1", "--output", str(file)) == 1
    shown = capsys.readouterr().out
    assert "of 120 pairs were not judged and are not below" in shown
    assert "of 120 pairs could not be judged" in shown
    figures = json.loads(file.read_text(encoding="utf-8"))
    assert 100 < figures["all"]["pairs"] <= 110
    assert figures["all"]["labels"]["value"] > 0.9
