"""The embedded judge: evidence that is verbatim, verdicts that can be read, nothing that breaks it."""

from __future__ import annotations

import asyncio
import math
import re
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_otel.errors import InputError
from rag_otel.evaluation.support import UNFAITHFUL_FROM
from rag_otel.model import Chunk, ClaimVerdict, Verdict
from rag_otel_evaluators.cooperative import cooperatively, finish
from rag_otel_evaluators.judges.embedded import EmbeddedJudge
from rag_otel_evaluators.judges.embedded.verdicts import MARGIN, Coefficients, risk_of_any
from rag_otel_evaluators.judges.judge import Judgement
from rag_otel_evaluators.text.claim_segmentation import segment
from testkit.size import examples

PLAN = "The Pro plan costs $20 per month and includes 5 users. It was launched on 3 May 2021 in Berlin."


def judge(chunks: Sequence[str], response: str, question: str | None = None) -> Judgement:
    return finish(
        EmbeddedJudge().steps(
            question=question,
            chunks=[Chunk(id=f"c{i}", text=text, position=i) for i, text in enumerate(chunks)],
            response=response,
            claims=segment(response).claims,
        )
    )


def verdict_on(claim: str, *chunks: str) -> ClaimVerdict:
    (verdict,) = judge(chunks, claim).verdicts
    return verdict


@pytest.mark.parametrize(
    ("claim", "found"),
    [
        ("The Pro plan costs $25 per month.", "20"),
        ("The Pro plan includes 7 users.", "5"),
        ("It was launched on 4 May 2021 in Berlin.", "May 2021"),
        ("It was launched on May 3, 2020 in Berlin.", "May 2021"),
        ("It was not launched in Berlin on 3 May 2021.", "launched"),
        ("The Pro plan costs 20 euros per month.", "$20"),
        ("It was launched on 3 May 2021 in Hamburg.", "Berlin"),
    ],
)
def test_contradictions(claim: str, found: str) -> None:
    """Another number, date, unit or name, or a "not", beside the same words contradicts; what was found is named."""
    verdict = verdict_on(claim, PLAN)
    assert verdict.verdict is Verdict.CONTRADICTED
    assert found in (verdict.explanation or "")
    assert (verdict.support_probability or 0.0) <= 0.5


def test_contradiction_of_a_negation() -> None:
    """The same statement with "not" contradicts; a paraphrase that negates in another way does not."""
    context = "The warranty covers damage by water."
    assert verdict_on("The warranty does not cover damage by water.", context).verdict is Verdict.CONTRADICTED
    avoid = "Move the hawk often, so the birds do not become used to the hawk."
    assert verdict_on("Move the hawk often to keep birds from becoming used to it.", avoid).verdict is Verdict.SUPPORTED


@pytest.mark.parametrize(
    "claim",
    [
        "The Pro plan costs 20 dollars per month.",
        "The Pro plan includes five users.",
        "It was launched in Berlin on May 3rd, 2021.",
        "The plan was launched in May 2021.",
    ],
)
def test_other_spellings_are_no_contradiction(claim: str) -> None:
    """The same number or date in another form, or a less precise one, is supported."""
    assert verdict_on(claim, PLAN).verdict is Verdict.SUPPORTED


def test_a_number_that_other_evidence_bears_out_is_no_contradiction() -> None:
    """One chunk's number contradicts nothing that another chunk says."""
    claim = "The Pro plan costs $25 per month."
    assert verdict_on(claim, PLAN, "Since June the Pro plan costs $25 per month.").verdict is Verdict.SUPPORTED


def test_unseen_words_are_named() -> None:
    """What the context does not hold is said in the claim's own words."""
    verdict = verdict_on("Mozart composed The Magic Flute in Vienna.", PLAN)
    assert verdict.verdict is Verdict.NOT_ENOUGH_INFO
    assert verdict.explanation == "Not in the context: Mozart composed, Magic Flute, Vienna."


def test_evidence_in_two_chunks() -> None:
    """A claim that needs two chunks names both, the one that holds more of it first."""
    verdict = verdict_on(
        "Marie Curie was born in Warsaw and won two Nobel prizes.",
        "Marie Curie was born in Warsaw in Poland.",
        "She won two Nobel prizes, in physics and chemistry.",
    )
    assert verdict.verdict is Verdict.SUPPORTED
    assert set(verdict.chunk_ids) == {"c0", "c1"}


def test_pointing_at_sources_is_no_fact() -> None:
    """ "(Passage 3)" and "[7]" are no numbers that would have to stand in the context."""
    assert verdict_on("The Pro plan includes 5 users (Passage 3) [7].", PLAN).verdict is Verdict.SUPPORTED


def test_support_probability_agrees_with_the_verdict() -> None:
    """A claim is supported exactly where its probability of being unsupported is below the frozen threshold."""
    for verdict in judge([PLAN], "It costs $20 per month. It has wheels. It was launched in Berlin.").verdicts:
        assert verdict.support_probability is not None
        assert (verdict.verdict is Verdict.SUPPORTED) == (1.0 - verdict.support_probability < UNFAITHFUL_FROM)


GERMAN = (
    "Der Tarif wurde im Mai eingeführt und ist für kleine Gruppen gedacht. Er kostet nicht mehr als der alte, aber "
    "man kann ihn nur mit einer Karte zahlen, wie es auch bei den anderen ist."
)


@pytest.mark.parametrize(
    ("chunk", "response"),
    [
        (GERMAN, "The plan was introduced in May and it is for small groups. It costs no more than the old one."),
        (GERMAN, "这个计划在五月推出，适合小团体。"),
        ("巴黎是法国的首都。它有两百万人口。", "Paris is the capital of France and it has two million people."),
    ],
)
def test_another_language_is_not_judged(chunk: str, response: str) -> None:
    """An answer in another language than its chunks gets no verdicts instead of wrong ones, and the reason."""
    judgement = judge([chunk], response)
    assert {verdict.verdict for verdict in judgement.verdicts} == {Verdict.UNJUDGED}
    assert (judgement.risk, judgement.reason_code) == (None, "language_mismatch")


@pytest.mark.parametrize(
    ("chunk", "response"),
    [
        (
            GERMAN,
            "Der Tarif ist für kleine Gruppen und wurde im Mai eingeführt, aber er kostet nicht mehr als der alte.",
        ),
        (GERMAN, "Pro-Tarif"),
        ("巴黎是法国的首都。它有两百万人口。", "法国的首都是巴黎。"),
        (PLAN, "The plan of which they were so proud has not been, as we would have it, what you had in mind."),
    ],
)
def test_the_same_language_is_judged(chunk: str, response: str) -> None:
    """The same language, or too few words to tell, is judged."""
    assert judge([chunk], response).reason_code is None


PARTS = st.sampled_from(
    ("The Pro plan costs $20 per month. ", "It was launched on 3 May 2021. ", "- item one\n", "Head:\n", "²³ ", "½ ")
) | st.sampled_from(
    ("爱因斯坦出生于德国。", "not 5 users ", "1879-13-45 ", "٣٤ ", "(Passage 2) ", "[1]", "\u0130x ", "e\u0301 ", "ß ")
)
TEXTS = st.lists(PARTS | st.text(max_size=12), max_size=12).map("".join)


@settings(max_examples=examples(200))
@given(st.lists(TEXTS, min_size=1, max_size=4), TEXTS, st.none() | TEXTS)
def test_whatever_comes(chunks: list[str], response: str, question: str | None) -> None:
    """Quotes are verbatim slices, ids exist, numbers are probabilities, supported claims have evidence."""
    claims = segment(response).claims
    if not claims:
        return
    judgement = judge(chunks, response, question)
    texts = {f"c{i}": text for i, text in enumerate(chunks)}
    assert [verdict.claim for verdict in judgement.verdicts] == list(claims)
    assert judge(chunks, response, question) == judgement
    if judgement.reason_code == "language_mismatch":
        assert {verdict.verdict for verdict in judgement.verdicts} == {Verdict.UNJUDGED}
        return
    assert judgement.risk is not None
    assert 0.0 <= judgement.risk <= 1.0
    for verdict in judgement.verdicts:
        assert verdict.support_probability is not None
        assert math.isfinite(verdict.support_probability)
        assert 0.0 <= verdict.support_probability <= 1.0
        assert set(verdict.chunk_ids) <= texts.keys()
        assert all(texts[quote.chunk_id][quote.start : quote.end] == quote.text for quote in verdict.quotes)
        assert all(quote.text for quote in verdict.quotes)
        if verdict.verdict is not Verdict.NOT_ENOUGH_INFO:
            assert verdict.chunk_ids
            assert verdict.quotes


def test_an_ordinal_in_capitals() -> None:
    """ "1ST" is one word in a chunk, as "1st" is in an answer."""
    chunk = "the tower in the big city was opened to the public on the 1ST"
    assert verdict_on("Yes the tower in the big city was opened to the public on the Werner.", chunk).quotes
    assert (
        verdict_on("The tower in the big city was opened to the public on the 1st.", chunk).verdict is Verdict.SUPPORTED
    )


def test_long_lines_are_quoted_in_pieces() -> None:
    """A chunk without a full stop (a log, a table) still gives a quote that one can read."""
    log = " ".join(f"entry {number} passed" for number in range(500)) + " the reactor was shut down by Ada"
    (quote, *_) = verdict_on("The reactor was shut down by Ada.", log).quotes
    assert "reactor" in quote.text
    assert len(quote.text) <= 600


async def test_judging_gives_way() -> None:
    """While a large context is judged, another task gets its turn again and again."""
    turns = 0
    done = asyncio.Event()

    async def another() -> None:
        nonlocal turns
        while not done.is_set():
            turns += 1
            await asyncio.sleep(0)

    other = asyncio.create_task(another())
    claims = segment(PLAN).claims
    chunks = [Chunk(id="0", text="\n".join(f"{PLAN} Take {n}." for n in range(2000)), position=0)]
    await EmbeddedJudge().judge(question=None, chunks=chunks, response=PLAN, claims=claims)
    done.set()
    await other
    assert turns > 20


async def test_courteous_returns_what_the_work_returns() -> None:
    """Driving in slices and in one go give the same result, and errors come through."""

    def work(fails: bool):  # type: ignore[no-untyped-def]
        yield
        if fails:
            raise KeyError("x")
        return 7

    assert await cooperatively(work(False)) == finish(work(False)) == 7
    with pytest.raises(KeyError):
        await cooperatively(work(True))


def test_coefficients_of_another_version_are_refused() -> None:
    """Coefficients for other features would score nonsense: they are refused with what to do."""
    values = EmbeddedJudge().coefficients.as_json()
    assert Coefficients.from_json(values) == EmbeddedJudge().coefficients
    values["features"] = {"length": 1.0}
    with pytest.raises(InputError, match=re.escape("train again")):
        Coefficients.from_json(values)


def test_risk_grows_with_every_claim() -> None:
    """An answer is at least as risky as its riskiest claim, and more so with more that are doubtful."""
    alone, with_another = risk_of_any([0.4]), risk_of_any([0.4, 0.4])
    assert alone == pytest.approx(0.4)
    assert alone < with_another < 1 - 0.6**2


def test_a_short_answer_is_never_sure() -> None:
    """A few words in common, or not, prove little: the risk stays away from 0 and 1."""
    for response in ("It was launched in Berlin.", "It was sold to a circus in Nevada.", "It includes 7 users."):
        risk = judge([PLAN], response).risk
        assert risk is not None
        assert MARGIN <= risk <= 1.0 - MARGIN
