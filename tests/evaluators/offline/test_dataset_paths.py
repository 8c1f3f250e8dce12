"""Where a value stands in a row: names, paths, and names that look like paths."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_otel_evaluators.offline.dataset_paths import MISSING, look_up

ROW: dict[str, Any] = {
    "question": "Q",
    "pred": {"contexts": ["a", "b"], "meta.data": {"k": 1}},
    "pred.answer": "dotted",
    "pred.meta": {"other": 2},
    "docs": [{"text": "x", "id": 1}, {"text": "y"}],
    "docs[0]": "bracketed",
    "cell": '{"contexts": ["from", "json"]}',
    "nothing": None,
}


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("question", "Q"),
        ("pred.contexts", ["a", "b"]),
        ("pred.contexts[1]", "b"),
        ("pred.contexts[-1]", "b"),
        ("pred.answer", "dotted"),
        ("pred['meta.data'].k", 1),
        ("pred.meta.other", 2),
        ("docs[*].text", ["x", "y"]),
        ("docs[*].id", [1, None]),
        ("docs[0]", "bracketed"),
        ("docs[1].text", "y"),
        ("cell.contexts", ["from", "json"]),
        ("nothing", None),
        ("pred.missing", MISSING),
        ("docs[7].text", MISSING),
        ("docs[*].missing", MISSING),
        ("question.text", MISSING),
        ("", MISSING),
    ],
)
def test_what_a_path_finds(path: str, value: Any) -> None:
    """A column's own name wins over a path, the longest one that exists over others."""
    found = look_up(ROW, path)
    assert found is MISSING if value is MISSING else found == value


names = st.text(alphabet="ab.[]0*", min_size=1, max_size=5)


@settings(deadline=None)
@given(st.dictionaries(names, st.recursive(st.integers(), lambda inner: st.dictionaries(names, inner, max_size=3))))
def test_every_column_is_found_by_its_name(row: dict[str, Any]) -> None:
    """Whatever a column is called, its name finds it."""
    assert all(look_up(row, name) == value for name, value in row.items())
