"""How a claim is put together, and which of two things it says came first."""

from __future__ import annotations

import pytest

from rag_otel_evaluators.judges.embedded.close_reading import NOTHING_READ, read_closely
from rag_otel_evaluators.judges.embedded.order import turned
from rag_otel_evaluators.judges.embedded.wording import WORDED, worded


def numbers(claim: str, *evidence: str, question: str = "", chunks: tuple[int, ...] = (0, 0, 0)) -> dict[str, float]:
    readings = [read_closely(text) for text in evidence]
    order = [(chunk, at) for at, chunk in enumerate(chunks[: len(readings)])]
    return worded(read_closely(claim), readings, read_closely(question), order)


@pytest.mark.parametrize(
    ("evidence", "right", "wrong"),
    [
        (
            "In 1911 she founded the library, and in 1920 she joined the council.",
            "The library; she joined the council only later.",
            "The council; she founded the library only later.",
        ),
        ("首先汇报电梯，最后讨论门禁。", "首先汇报电梯，然后讨论门禁。", "首先讨论门禁，然后汇报电梯。"),
        (
            "Zuerst sprach Brück über den Dienstplan, danach sprach Aydın über die Kantine.",
            "Zunächst ging es um den Dienstplan, später um die Kantine.",
            "Zunächst ging es um die Kantine, später um den Dienstplan.",
        ),
    ],
)
def test_a_clause_that_says_later_came_second(evidence: str, right: str, wrong: str) -> None:
    read = [read_closely(evidence)]
    assert turned(read_closely(right), read, [(0, 0)], ())[1] < 0.0
    assert turned(read_closely(wrong), read, [(0, 0)], ())[1] > 0.0


def test_new_words_side_by_side_are_a_longer_run_than_new_words_apart() -> None:
    evidence = "The manager forwards the request to the office."
    apart = numbers("The quick manager forwards each weekly request.", evidence)["unread_run"]
    beside = numbers("The manager forwards weekly cinema tickets.", evidence)["unread_run"]
    assert 0.0 < apart < beside <= 1.0


def test_what_is_added_stands_in_the_clause_that_is_asked_about() -> None:
    question, evidence = "Who proposed the bike shed?", "Mr Pike proposed a bike shed; Mr Webb seconded him."
    assert numbers("Pike.", evidence, question=question)["asked_clause"] == 1.0
    assert numbers("Webb.", evidence, question=question)["asked_clause"] == 0.0


def test_what_is_added_stands_in_another_chunk() -> None:
    question, evidence = "Who designed the wizard?", ("Oakes designed the wizard.", "Bell baked the bread.")
    assert numbers("It was Oakes.", *evidence, question=question, chunks=(0, 1))["elsewhere"] == 0.0
    assert numbers("It was Bell.", *evidence, question=question, chunks=(0, 1))["elsewhere"] == 1.0
    assert numbers("It was Bell.", *evidence, question=question, chunks=(0, 0))["elsewhere"] == 0.5


def test_nothing_read_is_no_number_too_large() -> None:
    found = worded(NOTHING_READ, [NOTHING_READ], NOTHING_READ, [(0, 0)])
    assert tuple(found) == WORDED
    assert all(value == 0.0 for value in found.values())
