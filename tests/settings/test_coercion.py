"""Settings are read without pydantic where that changes nothing but the time it takes."""

from __future__ import annotations

import subprocess
import sys
import typing
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from rag_otel.settings import Settings
from rag_otel.settings.coercion import ODD, plain_value

OBJECTS = ("evaluators", "sampler", "writers")
"""No text stands for them, so they are not read."""
TYPES = list(
    {str(each): each for name, each in typing.get_type_hints(Settings).items() if name not in OBJECTS}.values()
)
WORDS = st.sampled_from(
    [
        *("", "1", "0", "-3", "+4", "007", "2.50", "1e3", ".5", "5.", "inf", "nan", "1_000", " 7 ", "٣", "True", "OFF"),
        *("y", "flat", "json", "two_step", "strict", "score", "risk", "none", "otlp", "http://127.0.0.1:1", "9" * 20),
    ]
)
VALUES = st.one_of(
    st.none(),
    WORDS,
    st.text(max_size=5),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False),
    st.lists(WORDS, max_size=3),
    st.lists(WORDS, max_size=3).map(tuple),
    st.lists(st.integers(), max_size=2),
)


@given(st.sampled_from(TYPES), VALUES)
def test_what_is_read_is_what_pydantic_reads(wanted: Any, value: Any) -> None:
    """Whatever is plain has the value and the type that pydantic would have given it."""
    plain = plain_value(value, wanted)
    if plain is ODD:
        return
    try:
        expected = TypeAdapter(wanted).validate_python(value)
    except ValidationError:
        pytest.fail(f"{value!r} is no {wanted}, and was read as {plain!r}")
    assert (type(plain), plain) == (type(expected), expected)


@pytest.mark.parametrize(
    ("wanted", "value", "expected"),
    [
        (str | None, "http://127.0.0.1:6006", "http://127.0.0.1:6006"),
        (float, "0.25", 0.25),
        (float | None, 60, 60.0),
        (int, "5", 5),
        (bool, "false", False),
        (tuple[str, ...], ["a", "b"], ("a", "b")),
        (typing.Literal["flat", "json"], "json", "json"),
    ],
)
def test_usual_values_are_plain(wanted: Any, value: Any, expected: Any) -> None:
    """What people write in arguments and environments is read without help."""
    assert plain_value(value, wanted) == expected


def test_a_usual_set_up_loads_no_pydantic() -> None:
    """An application that names its Phoenix and a ratio does not pay for a library to read them."""
    script = (
        "import os, sys, rag_otel\nos.environ['RAG_OTEL_HOLD'] = '2.5'\n"
        "rag_otel.instrument(phoenix_endpoint='http://127.0.0.1:9', sample_ratio=0.5, metrics=['faithfulness'])\n"
        "print('pydantic' in sys.modules, flush=True)\nos._exit(0)"
    )
    shown = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert shown.stdout.split()[-1] == "False"
