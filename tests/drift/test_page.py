"""The drift page: what a person reads at a glance, and where the links lead."""

from __future__ import annotations

import json
import random
from pathlib import Path

from rag_otel.cli.drift_report.page import render_page
from rag_otel.cli.drift_report.view import replay, views, worst_answers
from rag_otel.drift.family import FamilySettings
from rag_otel.drift.observation import ALL, Answered, Observation
from rag_otel_collectors.stored.scores import from_files

SERIES = "faithfulness.score"
DAY_S = 86_400.0


def a_week(*, drop: bool = True) -> list[Observation]:
    """Forty answers a day for ten days; after the seventh, half of them are bad."""
    chance = random.Random(7)
    seen = []
    for number in range(400):
        bad = chance.random() < (0.5 if drop and number >= 280 else 0.05)
        answer = Answered(
            trace_id=f"{number:032x}",
            question=f"What is {number}? <b>",
            explanations=(("faithfulness", f'Contradicted: "It is {number}."'),),
        )
        values = ((SERIES, 0.2 if bad else 1.0), ("faithfulness.risk", 0.05 if bad and number % 2 else 0.9))
        seen.append(
            Observation(time_s=number * DAY_S / 40, probability=1.0, slices=("model=m",), values=values, answer=answer)
        )
    return seen


def a_page(seen: list[Observation]) -> str:
    found = replay(seen, FamilySettings(baseline_count=150))
    shown = views(found.family, found.events, found.timelines)
    worst = {(view.series, view.slice): worst_answers(seen, view) for view in shown if view.firing}
    return render_page(shown, found.events, heading="A week", worst=worst, link=lambda trace: f"http://phoenix/{trace}")


def test_what_drifted_is_one_sentence_above_a_chart_that_explains_itself() -> None:
    page = a_page(a_week())
    (section,) = [each for each in page.split("<section>") if "<h2>faithfulness score, all traffic" in each]
    assert "Faithfulness fell from" in section.partition("<svg")[0]
    for said in ("95% interval", "normal", "beyond this is drift", "time (UTC)", ">faithfulness<", ">8 Jan"):
        assert said in section, said


def test_the_three_worst_answers_since_then_are_linked_with_their_reason() -> None:
    """Of equal scores the riskiest first, and none from before the change."""
    seen = a_week()
    found = replay(seen, FamilySettings(baseline_count=150))
    (view,) = [
        each
        for each in views(found.family, found.events, found.timelines)
        if (each.series, each.slice) == (SERIES, ALL)
    ]
    since = [event.since_s for event in view.events if not event.resolved][-1]
    worst = worst_answers(seen, view)
    by_id = {each.answer.trace_id: each for each in seen if each.answer is not None}
    assert len(worst) == 3
    assert all(by_id[each.trace_id].time_s >= since for each in worst)
    assert all(by_id[each.trace_id].values == ((SERIES, 0.2), ("faithfulness.risk", 0.05)) for each in worst)
    page = a_page(seen)
    for each in worst:
        assert f'href="http://phoenix/{each.trace_id}"' in page
        assert each.why.replace('"', "&quot;") in page
    assert "<b>" not in page


def test_what_is_fine_is_a_line_each() -> None:
    page = a_page(a_week(drop=False))
    assert "Nothing drifts" in page
    assert "<svg" not in page
    assert "faithfulness score, all traffic: " in page


def test_a_stored_answer_is_bad_where_its_label_says_so(tmp_path: Path) -> None:
    """Of ten claims one is wrong: a score of .9 and a low risk, and an unfaithful answer all the same."""
    row = {f"rag.evaluation.faithfulness.{name}": value for name, value in (("score", 0.9), ("risk", 0.2))}
    file = tmp_path / "rows.jsonl"
    labels = ("unfaithful", "faithful", None)
    file.write_text("\n".join(json.dumps(row | {"rag.evaluation.faithfulness.label": label}) for label in labels))
    found = [each.bad for each in from_files([str(file)], ())]
    assert found == [("faithfulness.score", "faithfulness.risk"), (), ()]
