"""An answer is cut into claims: deterministic, offset-preserving, nothing lost."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_otel_evaluators.text.claim_segmentation import SegmentKind, segment

DATA = Path(__file__).parents[3] / "examples" / "data" / "ragtruth_qa_dev.jsonl"
MARKS = re.compile(r"(?:[\s>#*+•‣◦▪●○·–—-]|\[[ xX]\]|\(?\d{1,3}[.)、]|\(?[a-zA-Z][.)])*")
"""What may stand between two segments: white space and the marks of lists, quotes and headings."""


def claims(text: str) -> list[str]:
    return [claim.text for claim in segment(text).claims]


def kinds(text: str) -> list[tuple[SegmentKind, str]]:
    return [(part.kind, text[part.start : part.end]) for part in segment(text).segments]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It rains. It pours! Does it?", ["It rains.", "It pours!"]),
        ("Dr. Smith met Mrs. Jones at St. Mary's. All left.", ["Dr. Smith met Mrs. Jones at St. Mary's.", "All left."]),
        ("See Fig. 2 and No. 5, e.g. in Ohio. Done it is.", ["See Fig. 2 and No. 5, e.g. in Ohio.", "Done it is."]),
        ("He lives in the U.S. The law applies.", ["He lives in the U.S.", "The law applies."]),
        ("The U.S. Army and J. K. Rowling agree.", ["The U.S. Army and J. K. Rowling agree."]),
        ("Pi is 3.14. It costs $1,000.50 a day.", ["Pi is 3.14.", "It costs $1,000.50 a day."]),
        ("Am 14. März in Ulm geboren. Nahe z.B. Bern.", ["Am 14. März in Ulm geboren.", "Nahe z.B. Bern."]),
        ("Version 2.0.1 is out at example.com today.", ["Version 2.0.1 is out at example.com today."]),
        ('He said "It works." She left.', ['He said "It works."', "She left."]),
        ("It grew...and grew. Wait... Then it fell.", ["It grew...and grew.", "Wait...", "Then it fell."]),
        (
            "« La place est libre ? » a demandé une riveraine. Elle attend.",
            ["« La place est libre ? » a demandé une riveraine.", "Elle attend."],
        ),
        ("爱因斯坦出生于德国。他很有名！", ["爱因斯坦出生于德国。", "他很有名！"]),
        ("यह एक वाक्य है। यह दूसरा है॥", ["यह एक वाक्य है।", "यह दूसरा है॥"]),
        ("هذا صحيح۔ وهذا أيضا صحيح", ["هذا صحيح۔", "وهذا أيضا صحيح"]),
        ("No full stop at all", ["No full stop at all"]),
        (
            "A long line that is wrapped by hand goes on\nin the next line. Short.",
            ["A long line that is wrapped by hand goes on\nin the next line.", "Short."],
        ),
    ],
)  # fmt: skip
def test_sentences(text: str, expected: list[str]) -> None:
    """Sentences end where they end, in any script, and nowhere else."""
    assert claims(text) == expected


def test_list_items_carry_their_stem() -> None:
    """What introduces a list is no claim by itself; it is put before the text of each of its items."""
    text = "These help:\n\n1. Sleep. Rest too.\n2) **Water**\n- Tea:\n   - green\n\nThat is all there is."
    assert claims(text) == [
        "These help: Sleep.",
        "These help: Rest too.",
        "These help: **Water**",
        "These help: Tea: green",
        "That is all there is.",
    ]


def test_headings_introduce_their_items_only() -> None:
    """A heading goes before the items below it, not before paragraphs, and ends with the next heading."""
    text = "## Causes\n- Smoking\n- Diet\n\nBoth matter.\n\n**Effects**\n* Cough"
    assert claims(text) == ["Causes: Smoking", "Causes: Diet", "Both matter.", "Effects: Cough"]


def test_lines_directly_below_a_colon_are_items() -> None:
    """A list without bullets is one too, until a blank line ends it."""
    assert claims("Ingredients:\n2 eggs\nflour\n\nMix well.") == [
        "Ingredients: 2 eggs",
        "Ingredients: flour",
        "Mix well.",
    ]


def test_table_rows_carry_their_head() -> None:
    """A row of a Markdown table is a claim under the table's head."""
    assert claims("| City | Size |\n|---|---|\n| Ulm | 126000 |") == ["City | Size: | Ulm | 126000 |"]


@pytest.mark.parametrize(
    "text",
    [
        "```python\nprint('Paris. London.')\n```",
        "~~~\nunclosed code. Here.",
        "https://example.com/a.b?c=d",
        "[1] [2, 3]",
        "Sources: [1] https://example.com",
        "(Passage 2)",
        "---",
        "Sure! I hope this helps!",
        "Hello there!",
        "Let me know if you have any other questions.",
        "Gracias.",
        "What else would you like to know?",
        "",
        "  \n\t\n",
    ],
)
def test_no_claims(text: str) -> None:
    """Code, links, citation markers, greetings and questions claim nothing, and are no abstention either."""
    segmentation = segment(text)
    assert segmentation.claims == ()
    assert not segmentation.abstained


@pytest.mark.parametrize(
    "text", ["Certainly Paris is in France.", "Thanks to Bell, we have telephones.", "Yes, it rains."]
)
def test_claims_that_begin_politely(text: str) -> None:
    """A polite word does not make a statement manners."""
    assert claims(text) == [text]


def test_citation_markers_stay_with_their_sentence() -> None:
    """A marker after the full stop belongs to the sentence before it."""
    assert claims("Paris is big.[1] It is old [2]. It is nice. [3, 4] Rome too.") == [
        "Paris is big.[1]",
        "It is old [2].",
        "It is nice. [3, 4]",
        "Rome too.",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "I don't know.",
        "I’m sorry, I cannot answer that.",
        "Unable to answer based on given passages.",
        "The passages do not mention the price.",
        "There is no information about that in the context.",
        "No lo sé.",
        "El contexto no menciona el precio.",
        "Das weiß ich nicht.",
        "Ich weiß es nicht.",
        "Der Kontext enthält keine Angaben dazu.",
        "Je ne sais pas.",
        "Le contexte ne mentionne pas le prix.",
        "我不知道。",
    ],
)
def test_abstentions(text: str) -> None:
    """Saying that one does not know is no claim, in several languages."""
    segmentation = segment(text)
    assert segmentation.claims == ()
    assert segmentation.abstained


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I don't know the day, but he was born in March 1879.", "but he was born in March 1879."),
        ("While the passages do not say when, he was born in Ulm.", "he was born in Ulm."),
        ("The price is 5 euros per month. I don't know more.", "The price is 5 euros per month."),
        ("No sé el día, pero nació en marzo de 1879.", "pero nació en marzo de 1879."),
    ],
)
def test_claims_beside_an_abstention(text: str, expected: str) -> None:
    """What is claimed beside an abstention is judged."""
    segmentation = segment(text)
    assert [claim.text for claim in segmentation.claims] == [expected]
    assert segmentation.abstained


def test_halves_of_a_sentence_share_its_index() -> None:
    """A sentence that is part abstention, part claim counts once."""
    segmentation = segment("It is so. I don't know the day, but he was born in March 1879.")
    assert [part.sentence_index for part in segmentation.segments] == [0, 1, 1]


def test_words_with_negations_are_claims() -> None:
    """A negation alone is no abstention: "cannot be made by the body" is a fact."""
    text = "Essential amino acids cannot be made by the body. Note that you cannot undo this."
    assert len(claims(text)) == 2


PIECES = (
    st.sampled_from(
        (
            "1. one\n",
            "- two\n",
            "a) b\n",
            "Head:\n",
            "# H\n",
            "**B**\n",
            "> q\n",
            "| a | b |\n",
            "|---|---|\n",
            "\n\n",
            " ",
        )
    )
    | st.sampled_from(
        (
            "Dr. Who left. ",
            "I don't know, but he went home today. ",
            "While it does not say so, he left. ",
            "Sure! ",
            "？",
            "。",
        )
    )
    | st.sampled_from(
        (
            "3.14",
            "U.S. ",
            "e.g. ",
            "[1]",
            "```\nx. y\n```\n",
            "?!",
            "...",
            "https://x.y/z. ",
            "é’s ",
            "\u3000",
            ":",
            ": ",
        )
    )
)


@given(st.lists(PIECES | st.text(max_size=8), max_size=30).map("".join))
def test_nothing_is_lost(text: str) -> None:
    """Segments follow each other without overlap, and between them stand only white space and marks."""
    at = 0
    for part in segment(text).segments:
        assert at <= part.start < part.end <= len(text)
        assert MARKS.fullmatch(text, at, part.start), text[at : part.start]
        at = part.end
    assert MARKS.fullmatch(text, at), text[at:]


@given(st.lists(PIECES | st.text(max_size=8), max_size=30).map("".join))
def test_claims_are_verbatim(text: str) -> None:
    """A claim's text ends in the slice that its offsets name; the same text gives the same segments."""
    segmentation = segment(text)
    for claim in segmentation.claims:
        assert claim.text.endswith(text[claim.start : claim.end])
    assert segment(text) == segmentation


def test_real_answers_have_claims_of_readable_length() -> None:
    """On the answers of real models claims are sentences: none is empty, few are very long."""
    answers = [json.loads(line)["response"] for line in DATA.read_text(encoding="utf-8").splitlines()]
    lengths = [claim.end - claim.start for answer in answers for claim in segment(answer).claims]
    assert len(lengths) > 1500
    assert min(lengths) >= 2
    assert sum(length > 500 for length in lengths) < len(lengths) / 100
