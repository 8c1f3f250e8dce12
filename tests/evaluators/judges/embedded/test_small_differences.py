"""Short answers that are wrong in one point: another number, name, day or order, or a word that says more."""

from __future__ import annotations

import pytest

from rag_otel.model import Chunk, Verdict
from rag_otel_evaluators.cooperative import finish
from rag_otel_evaluators.judges.embedded import EmbeddedJudge
from rag_otel_evaluators.judges.judge import Judgement
from rag_otel_evaluators.text.claim_segmentation import segment

SHIPPING = ("Are shipping costs refunded?", "Shipping costs are not refunded.")
EXPORT = ("Who can export?", "Some users can export reports.")
SHOP = (
    "Is the shop open on Sunday?",
    "The shop is open Monday to Saturday from 9 to 18. It is closed on Sunday.",
)
BRIDGE = ("When was the bridge painted?", "The bridge was painted after the storm.")
TOWER = ("When was the tower finished?", "The tower is 330 metres high and was finished in 1889.")
OFFICE = ("Who leads the Berlin office?", "Alice Meyer leads the Berlin office. Bob Tan leads the Paris office.")
BATTERY = ("How long are batteries covered?", "The warranty covers batteries for 12 months.")
LINES = ("Which line leaves first?", "Line 41 leaves Soest at 9:05; line 36 leaves Soest at 9:55.")
MODELS = ("Which model is heavier?", "The Pixo S weighs 1.5 kg and the Pixo M weighs 1.8 kg.")


def judge(given: tuple[str, str], answer: str) -> Judgement:
    question, chunk = given
    chunks = [Chunk(id="c0", text=chunk, position=0)]
    claims = segment(answer).claims
    return finish(EmbeddedJudge().steps(question=question, chunks=chunks, response=answer, claims=claims))


@pytest.mark.parametrize(
    ("given", "answer"),
    [
        (SHIPPING, "Shipping costs are fully refunded."),
        (EXPORT, "All users can export reports."),
        (SHOP, "The shop is open on Sunday from 9 to 18."),
        (BRIDGE, "The bridge was painted before the storm."),
        (TOWER, "The tower was finished in 1899."),
        (OFFICE, "Bob Tan leads the Berlin office."),
        (BATTERY, "Batteries are covered for life."),
    ],
)
def test_a_wrong_point_is_not_supported(given: tuple[str, str], answer: str) -> None:
    """A denial dropped, "all" for "some", another day, time or year is never called supported."""
    (verdict,) = judge(given, answer).verdicts
    assert verdict.verdict is not Verdict.SUPPORTED


@pytest.mark.parametrize(
    ("given", "true", "false"),
    [
        (OFFICE, "Alice Meyer leads the Berlin office.", "Bob Tan leads the Berlin office."),
        (BATTERY, "Batteries are covered for 12 months.", "Batteries are covered for life."),
        (BRIDGE, "The bridge was painted after the storm.", "The bridge was painted before the storm."),
        (LINES, "Line 41 leaves earlier than line 36.", "Line 36 leaves earlier than line 41."),
        (MODELS, "The Pixo M is heavier than the Pixo S.", "The Pixo S is heavier than the Pixo M."),
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
        (LEAVE, "You get 25 days of leave per month."),
        (PLAN, "It costs £5 a year."),
        (SEAT, "Bristol."),
        (SEAT, "In Bristol."),
        (("总部在哪里？", "公司成立于2010年，总部在杭州。"), "上海。"),
        (PLAN, "The sandbox costs 20 dollars."),
        (("多少钱？", "会员费每月30元。"), "每年30元。"),
        (LEAVE, "Up to five days may be carried over until the end of May."),
        (TRAINS, "48 minutes."),
        (
            ("Is the sandbox free?", "The sandbox is free; production requires the Pro plan."),
            "No, it needs the Pro plan.",
        ),
    ],
)
def test_a_number_that_is_nowhere_or_a_turned_reply_is_not_supported(given: tuple[str, str], answer: str) -> None:
    """The sum of two numbers of other sentences is not in the context, and a "no" is wrong where it says yes."""
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
        (SHOP, "The shop is open on Sunday from 9 to 18."),
        (WEEK, "It is open on Mondays."),
        (WEEK, "The museum is closed on Tuesdays."),
        (WOCHE, "Montags ist geöffnet."),
        (ZHOU, "本馆周日开放。"),
    ],
)
def test_the_opposite_on_the_day_that_is_named_is_contradicted(given: tuple[str, str], answer: str) -> None:
    """The same word, said of other days, does not make it true."""
    (verdict,) = judge(given, answer).verdicts
    assert verdict.verdict is Verdict.CONTRADICTED


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
