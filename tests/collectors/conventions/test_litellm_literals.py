"""The `repr` that LiteLLM writes: plain data is read, and nothing else costs the collector time."""

from __future__ import annotations

import warnings

import pytest

from rag_otel_collectors.conventions.litellm import _MAX_STRUCTURE, _is_plain, _literal


def test_a_long_real_value_is_read() -> None:
    """Nearly all of it is text, of which there may be much: quotes, escapes and brackets in it do not count."""
    content = [{"text": 'It\'s "330" [metres] \\ high.\n' * 200, "type": "text"}]
    results = [{"score": 0.5, "file_id": "a", "attributes": {"year": 1889, "old": None}, "content": content}] * 40
    searches = [{"query": "How high?", "vector_store_search_response": {"data": results, "search": True}}]
    assert len(repr(searches)) > 200_000
    assert _literal(repr(searches)) == searches


@pytest.mark.parametrize(
    "piece",
    [
        "-",
        "not ",
        "(",
        "1+",
        "~",
        "a.",
        "x[",
        "lambda:",
        "1if 1 else ",
        "await ",
        'f"{',
        "*",
        "{'a':1},",
        "1,",
        "[",
        "'",
    ],
)
def test_what_is_no_plain_data_or_too_much_of_it_is_not_parsed(piece: str) -> None:
    """And nothing of it is said in the log: the parser warns of code such as `1if`."""
    text = "[" + piece * (2 * _MAX_STRUCTURE // len(piece)) + "]"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not _literal(text)
    if "'" not in piece:
        assert not _is_plain(text)
