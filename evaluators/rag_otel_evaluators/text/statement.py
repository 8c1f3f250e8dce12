"""A claim, or a sentence of the evidence, as both are compared: by terms, words, names and quantities."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final

from rag_otel_evaluators.text.quantities import may_hold_quantities, read_quantities
from rag_otel_evaluators.text.quantity import Quantity
from rag_otel_evaluators.text.terms import WEIGHTS, terms_of, tokenize

_NAME: Final = re.compile(r"(?<=[^\W\d_A-Z] )[A-ZÀ-Ý][^\W\d_]+")


class AnalysedStatement:
    """A claim or a sentence with its terms; what few comparisons need is read when it is asked for."""

    __slots__ = ("_names", "_quantities", "_tokens", "_weights", "_words", "distinct", "terms", "text")

    def __init__(self, text: str, terms: list[str] | None = None) -> None:
        self.text = text
        self.terms = terms_of(text) if terms is None else terms
        """In order, one per token."""
        self.distinct = frozenset(self.terms)
        self._tokens: list[str] | None = None
        self._names: frozenset[str] | None = None
        self._words: frozenset[str] | None = None
        self._quantities: list[Quantity] | None = None
        self._weights: dict[str, float] | None = None

    @property
    def tokens(self) -> list[str]:
        """The tokens as written, one per term."""
        if self._tokens is None:
            tokens = tokenize(self.text)  # in odd scripts lower case may be cut in another way
            self._tokens = tokens if len(tokens) == len(self.terms) else self.terms
        return self._tokens

    @property
    def words(self) -> frozenset[str]:
        """The tokens in lower case, each once."""
        if self._words is None:
            self._words = frozenset(map(str.lower, self.tokens))
        return self._words

    @property
    def names(self) -> frozenset[str]:
        """The words with a capital inside a sentence: not at its start, nor after a colon or a quotation mark."""
        if self._names is None:
            self._names = frozenset(_NAME.findall(self.text))
        return self._names

    @property
    def quantities(self) -> list[Quantity]:
        """See `read_quantities`."""
        if self._quantities is None:
            self._quantities = read_quantities(self.text) if may_hold_quantities(self.distinct) else []
        return self._quantities

    @property
    def weights(self) -> dict[str, float]:
        """The weight of each term that says something; numbers apart."""
        if self._weights is None:
            weight = WEIGHTS.get
            self._weights = {
                term: value for term in self.terms if not term[0].isdigit() and (value := weight(term, 1.0)) > 0.0
            }
        return self._weights

    def share_in(self, other: AnalysedStatement, without: Collection[str] = ()) -> float:
        """Share of this one's weight that the other holds, some terms left out; 1 where nothing is left."""
        total = held = 0.0
        for term, weight in self.weights.items():
            if term not in without:
                total += weight
                held += weight if term in other.distinct else 0.0
        return held / total if total else 1.0
