"""Short answers that are wrong in one point: another number or name, an opposite, a "not" dropped."""

from __future__ import annotations

import pytest

from rag_otel.model import Chunk, Verdict
from rag_otel_evaluators.cooperative import finish
from rag_otel_evaluators.judges.embedded import EmbeddedJudge
from rag_otel_evaluators.judges.judge import Judgement
from rag_otel_evaluators.text.claim_segmentation import segment

SHIPPING = ("Are shipping costs refunded?", "Shipping costs are not refunded.")
SHOP = (
    "Is the shop open on Sunday?",
    "The shop is open Monday to Saturday from 9 to 18. It is closed on Sunday.",
)
BRIDGE = ("When was the bridge painted?", "The bridge was painted after the storm.")
TOWER = ("When was the tower finished?", "The tower is 330 metres high and was finished in 1889.")
BATTERY = ("How long are batteries covered?", "The warranty covers batteries for 12 months.")


def judge(given: tuple[str, str], answer: str) -> Judgement:
    question, chunk = given
    chunks = [Chunk(id="c0", text=chunk, position=0)]
    claims = segment(answer).claims
    return finish(EmbeddedJudge().steps(question=question, chunks=chunks, response=answer, claims=claims))


@pytest.mark.parametrize(
    ("given", "answer"),
    [
        (SHIPPING, "Shipping costs are fully refunded."),
        (BRIDGE, "The bridge was painted before the storm."),
        (TOWER, "The tower was finished in 1899."),
    ],
)
def test_a_wrong_point_is_not_supported(given: tuple[str, str], answer: str) -> None:
    """A denial dropped or another year is never called supported."""
    (verdict,) = judge(given, answer).verdicts
    assert verdict.verdict is not Verdict.SUPPORTED


@pytest.mark.parametrize(
    ("given", "true", "false"),
    [
        (BATTERY, "Batteries are covered for 12 months.", "Batteries are covered for life."),
        (BRIDGE, "The bridge was painted after the storm.", "The bridge was painted before the storm."),
    ],
)
def test_the_false_one_is_riskier(given: tuple[str, str], true: str, false: str) -> None:
    """Of two answers that differ in one point the wrong one has more risk."""
    risks = [judge(given, answer).risk or 0.0 for answer in (true, false)]
    assert risks[0] < risks[1]


LEAVE = (
    "How many days of leave do I get?",
    "Employees accrue 25 days of paid leave per year. Up to five unused days may be carried over until 31 March.",
)
TRAINS = ("How long does it take?", "Trains run every 20 minutes until 23:50. The journey takes 28 minutes.")
PLAN = ("What does it cost?", "The plan costs £5 a month, or £50 a year. The sandbox is free.")
SEAT = ("Where is the head office?", "The company was founded in 2010. The head office is in Leeds.")
PARKING = ("How long may visitors park?", "Visitors may park for up to two hours between 8 and 18.")
REVENUE = ("How did revenue develop?", "Revenue rose from 48 million euros in 2022 to 60 million in 2023.")


@pytest.mark.parametrize(
    ("given", "answer"),
    [
        (LEAVE, "You get 30 days of paid leave per year."),
        (SEAT, "Bristol."),
        (SEAT, "In Bristol."),
        (("总部在哪里？", "公司成立于2010年，总部在杭州。"), "上海。"),
        (PLAN, "The sandbox costs 20 dollars."),
        (TRAINS, "48 minutes."),
    ],
)
def test_a_number_or_name_that_is_nowhere_is_not_supported(given: tuple[str, str], answer: str) -> None:
    """Nor the sum of two numbers of other sentences: nothing is calculated."""
    judged = judge(given, answer)
    assert judged.verdicts[0].verdict is not Verdict.SUPPORTED
    assert (judged.risk or 0.0) >= 0.3


@pytest.mark.parametrize(
    ("given", "answer"),
    [
        (TRAINS, "Just under half an hour."),
        ((TRAINS[0].replace("How long does it take", "When is the last train"), TRAINS[1]), "At ten to midnight."),
        (REVENUE, "It rose from 48 to 60 million euros."),
        (PLAN, "£5 per month."),
        (PLAN, "£50 annually."),
        (PARKING, "Visitors can park for at most two hours."),
        (
            ("Was kostet der Versand?", "Er kostet 4,90 Euro, ab 50 Euro ist er kostenlos."),
            "Ab 50 Euro ist er kostenlos.",
        ),
        (("Can I take my bike at 8?", "Bicycles are carried outside rush hour only."), "No, not during rush hour."),
    ],
)
def test_the_same_in_other_words_is_not_contradicted(given: tuple[str, str], answer: str) -> None:
    """Rough numbers, times of day in words, a shared "million", and a limit told as a denial."""
    (verdict,) = judge(given, answer).verdicts
    assert verdict.verdict is not Verdict.CONTRADICTED


def test_risk_tells_apart_what_is_sure_and_what_is_contradicted() -> None:
    """No floor flattens the risk: a plain contradiction is far from a plain support."""
    assert (judge(TOWER, "The tower was finished in 1889.").risk or 1.0) < 0.2
    assert (judge(TOWER, "The tower was finished in 1899.").risk or 0.0) > 0.6


WEEK = ("When is the museum open?", "The museum is open Tuesday to Saturday from 9 to 18 and closed on Mondays.")
WOCHE = ("Wann ist geöffnet?", "Wir haben dienstags bis samstags geöffnet. Montags bleibt geschlossen.")
ZHOU = ("周日开放吗？", "本馆周一至周六9点到17点开放，周日闭馆。")


@pytest.mark.parametrize(
    ("given", "answer"),
    [
        (SHOP, "The shop is closed on Sunday."),
        (WEEK, "It is open on Saturdays."),
        (WOCHE, "Samstags ist geöffnet."),
        (ZHOU, "本馆周六开放。"),
        (ZHOU, "本馆周日不开放。"),
        (("When does the pool open?", "The pool opens at 9 on Fridays and closes at 17."), "It opens on Fridays at 9."),
        (("Are dogs allowed?", "Pets are allowed except dogs over 20 kg."), "Large dogs are banned."),
        (("下锅前要焯水吗？", "排骨焯水后捞出，沥干。"), "放进水里焯一下。"),
    ],
)
def test_words_that_have_an_opposite_may_both_hold(given: tuple[str, str], answer: str) -> None:
    """Of another day, with an exception, or within another word, the opposite contradicts nothing."""
    (verdict,) = judge(given, answer).verdicts
    assert verdict.verdict is not Verdict.CONTRADICTED
