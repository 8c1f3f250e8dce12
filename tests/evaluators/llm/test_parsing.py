"""What a model said -> the object that was asked for, keeping what can be kept."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from rag_otel_evaluators.llm.parsing import decode, read_answer


class Item(BaseModel):
    claim: int
    evidence: list[str] = []
    verdict: str


class Items(BaseModel):
    verdicts: list[Item]


class Flag(BaseModel):
    noncommittal: bool = False


CLEAN = '{"verdicts":[{"claim":0,"evidence":["c0.s1"],"verdict":"supported"}]}'


@pytest.mark.parametrize(
    "text",
    [
        CLEAN,
        f"```json\n{CLEAN}\n```",
        f"According to [1] and {{others}} I find:\n{CLEAN}\nHope this helps :-}}",
        f"<think>maybe {{not}} json</think>{CLEAN}",
        "[" + CLEAN.removeprefix('{"verdicts":[').removesuffix("]}") + "]",
        f'{{"answer":{CLEAN}}}',
        CLEAN.replace("}]}", "},],}"),
        CLEAN.replace('"', "'"),
    ],
    ids=["clean", "fence", "prose", "thinking", "bare list", "wrapped", "trailing commas", "python"],
)
def test_habits_of_models_are_undone(text: str) -> None:
    """Fences, prose, thoughts, bare lists and slightly wrong JSON read like the clean answer."""
    reading = read_answer(text, Items)
    assert reading.value == Items(verdicts=[Item(claim=0, evidence=["c0.s1"], verdict="supported")])
    assert not reading.truncated


def test_raw_line_breaks_inside_strings_are_read() -> None:
    """Small models put line breaks into strings unescaped."""
    reading = read_answer('{"verdicts":[{"claim":0,"verdict":"a\nb"}]}', Items)
    assert reading.value is not None
    assert reading.value.verdicts[0].verdict == "a\nb"


def test_one_bad_item_costs_itself_alone() -> None:
    """Items that do not validate are dropped and named."""
    text = '{"verdicts":[{"claim":0,"verdict":"x"},{"claim":"?","verdict":"x"},{"claim":2,"verdict":"x"}]}'
    reading = read_answer(text, Items)
    assert reading.value is not None
    assert [item.claim for item in reading.value.verdicts] == [0, 2]
    assert len(reading.problems) == 1
    assert reading.problems[0].startswith("verdicts.1.claim: ")


@pytest.mark.parametrize(
    "text", ["", "   ", "I cannot help with that.", '{"verdicts": 3}', '{"verdicts":[{"cl', "null"]
)
def test_what_cannot_be_read_is_none_with_a_reason(text: str) -> None:
    """No value is made up, and the problem says what was there."""
    reading = read_answer(text, Items)
    assert reading.value is None
    assert reading.problems


def test_an_empty_object_is_an_answer_where_everything_is_optional() -> None:
    """`{}` is read as the model's defaults."""
    assert read_answer("{}", Flag).value == Flag()


def test_a_number_that_was_cut_off_is_not_taken_for_a_smaller_one() -> None:
    """`"claim": 1` at the end may be the beginning of 12: the item is dropped."""
    reading = read_answer('{"verdicts":[{"verdict":"x","claim":0},{"verdict":"x","claim":1', Items)
    assert reading.value is not None
    assert [item.claim for item in reading.value.verdicts] == [0]
    assert reading.truncated


texts = st.text(alphabet='ab"\\{}[],:\n é', max_size=8)
items = st.builds(Item, claim=st.integers(0, 99), evidence=st.lists(texts, max_size=3), verdict=texts)


@given(st.lists(items, max_size=5), st.data())
def test_a_truncated_answer_keeps_a_prefix_of_its_items(given_items: list[Item], data: st.DataObject) -> None:
    """Wherever the text is cut, what is read are the first items, each unchanged."""
    text = json.dumps({"verdicts": [item.model_dump() for item in given_items]}, ensure_ascii=False)
    cut = data.draw(st.integers(0, len(text)))
    reading = read_answer(text[:cut], Items)
    kept = [] if reading.value is None else reading.value.verdicts
    assert kept == given_items[: len(kept)]
    assert reading.truncated == (0 < cut < len(text))
    if cut == len(text):
        assert kept == given_items


@given(st.text())
def test_any_text_is_survived(text: str) -> None:
    """Reading never raises, and gives a value or says why not."""
    reading = read_answer(text, Items)
    assert reading.value is not None or reading.problems


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), lambda inner: st.lists(inner, max_size=3)))
def test_well_formed_json_is_decoded_as_it_is(value: object) -> None:
    """An object inside prose comes out unchanged."""
    text = f"Here: {json.dumps({'a': value})} done"
    assert decode(text) == ({"a": value}, False)
