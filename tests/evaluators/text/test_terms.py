"""Terms: what remains of a word when spelling, inflection and number format are taken away."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_otel_evaluators.text.terms import normalize_number, stem, terms_of, tokenize


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Jan 15, 1967", "January 15th 1967"),
        ("1,000 dollars", "1000 dollar"),
        ("20.50", "20.5"),
        ("seven users", "7 user"),
        ("50%", "50 percent"),
        ("marzo", "March"),
        ("running studies", "run study"),
        ("the city’s walls", "the city's wall"),
        ("físico", "fisico"),
    ],
)
def test_same_terms(one: str, other: str) -> None:
    """Two ways to write the same thing give the same terms."""
    assert terms_of(one) == terms_of(other)


@pytest.mark.parametrize(("one", "other"), [("14", "20"), ("note", "not"), ("1.5", "15"), ("May", "March")])
def test_different_terms(one: str, other: str) -> None:
    """What means something else stays something else."""
    assert terms_of(one) != terms_of(other)


def test_scripts_without_spaces() -> None:
    """Chinese text is cut into pairs of characters, Hindi words keep their vowel signs."""
    assert tokenize("爱因斯坦 born") == ["爱因", "因斯", "斯坦", "born"]
    assert tokenize("हिन्दी भाषा") == ["हिन्दी", "भाषा"]


@given(st.text(alphabet=st.characters(max_codepoint=127), max_size=40))
def test_ascii_is_only_a_faster_way(text: str) -> None:
    """Plain text gives the same tokens on the fast path as beside a character that takes the slow one."""
    assert tokenize(f"{text} é") == [*tokenize(text), "é"]


CASED = st.lists(
    st.sampled_from(["1", "21", "ST", "Nd", "tH", "rd", "İ", "K", "ß", "Σ", "É", "e\u0301", " ", "'", "%"])
)


@given(CASED.map("".join) | st.text(max_size=40))
def test_case_changes_no_token(text: str) -> None:
    """In lower case a text has the same number of tokens, so that tokens as written and terms go together."""
    assert len(tokenize(text)) == len(terms_of(text))


@given(st.text(max_size=40))
def test_every_token_has_a_term(text: str) -> None:
    """Any text has terms, none is empty, and a term is made of its token alone."""
    assert [stem(token) for token in tokenize(text.lower())] == terms_of(text)
    assert all(terms_of(text))


@pytest.mark.parametrize(
    ("digits", "expected"),
    [
        ("1,000,000", "1000000"),
        ("7,5", "7.5"),
        ("007", "7"),
        ("0", "0"),
        ("3rd", "3"),
        ("1.234,56", "1234.56"),
        ("1,234.50", "1234.5"),
        ("1.234.567", "1234567"),
        ("0,125", "0.125"),
        ("1.2.3", "1.2.3"),
        ("٣٣٠", "330"),
        ("３０", "30"),
    ],
)
def test_numbers(digits: str, expected: str) -> None:
    """Thousands, decimals, ordinals and leading zeros."""
    assert normalize_number(digits) == expected
