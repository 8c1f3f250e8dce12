"""Holds a causal language model to the shape of an answer, token by token, so that what it writes is valid JSON.

llguidance (https://github.com/guidance-ai/llguidance) says which tokens may come next. Two things remain to be seen to,
because small models ramble: strings and integers that the schema leaves unbounded get a bound, and when the output
budget is used up the answer is brought to its end by the shortest way instead of being cut, without the item in which
it ran out.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Final

from rag_otel.errors import ConfigurationError
from rag_otel_evaluators.llm.parsing import json_structure

try:
    import llguidance.hf
    import torch
except ImportError as error:
    raise ConfigurationError(
        f"a model in this process needs torch, transformers and llguidance ({error}); "
        "install them with: pip install 'rag-otel[local]'"
    ) from None

_LARGEST_INTEGER: Final = 10**9
_BOUNDS: Final = frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"})
_STRING_SHAPES: Final = frozenset({"maxLength", "pattern", "format", "enum", "const"})
_COMPILATION: Final = {"whitespace_flexible": False, "lenient": True}
"""No white space, which a small model would write for ever; keywords that llguidance lacks are left to validation."""
_SPARE_TOKENS: Final = 64
_ESCAPED: Final = re.compile(r"\\.")


def bounded_schema(strict_schema: Mapping[str, Any], longest_string: int) -> dict[str, Any]:
    """`strict_schema` with an end to every string (characters) and integer that has none."""
    schema: dict[str, Any] = _bounded(strict_schema, longest_string)
    return schema


def _bounded(node: Any, longest_string: int) -> Any:
    if isinstance(node, list):
        return [_bounded(item, longest_string) for item in node]
    if not isinstance(node, Mapping):
        return node
    bounded = {key: _bounded(value, longest_string) for key, value in node.items()}
    kind = node.get("type")
    if kind == "string" and not _STRING_SHAPES & node.keys():
        bounded["maxLength"] = max(longest_string, node.get("minLength", 0))
    if kind == "integer" and not (_BOUNDS | _STRING_SHAPES) & node.keys():
        bounded |= {"minimum": -_LARGEST_INTEGER, "maximum": _LARGEST_INTEGER}
    return bounded


def closing_tokens(schema: dict[str, Any]) -> int:
    """Tokens that suffice to bring an answer to its end, wherever in it the budget ran out."""
    return len(json.dumps(schema)) + _SPARE_TOKENS


class TokenRules:
    """What there is to know about a tokenizer for writing JSON with it."""

    def __init__(self, tokenizer: Any, *, vocabulary: int, end_tokens: Sequence[int]) -> None:
        """`vocabulary`: how many tokens the model scores, which may be more than the tokenizer has.

        Raises ConfigurationError for a tokenizer that is not one of the `tokenizers` library.
        """
        try:
            self.tokens = llguidance.hf.from_tokenizer(tokenizer, n_vocab=vocabulary, eos_token=list(end_tokens))
        except ValueError as error:
            raise ConfigurationError(f"this model's tokenizer cannot be held to a schema: {error}") from error
        self._vocabulary = vocabulary

    @cached_property
    def haste(self) -> tuple[torch.Tensor, torch.Tensor]:
        """How far each token brings an answer to its end: outside a string, and inside one. More is faster."""
        spelt = [self.tokens.decode_bytes([token]) for token in range(self._vocabulary)]
        return (
            torch.tensor([_haste_outside_string(token) for token in spelt], dtype=torch.int8),
            torch.tensor([_haste_inside_string(token) for token in spelt], dtype=torch.int8),
        )


def _haste_outside_string(token: bytes) -> int:
    """Close a bracket, else begin a string (it will be empty), else go on to the next field, else a value."""
    if token.startswith((b"]", b"}")):
        return 3
    if token.startswith(b'"'):
        return 2 if not token.strip(b'"]}') else 0
    return 1 if token.startswith(b",") else 0


def _haste_inside_string(token: bytes) -> int:
    """End it, with brackets after it or not, else with anything after it."""
    if not token.startswith(b'"'):
        return 0
    return 1 if token.strip(b'"]}') else 2


class JsonWriting:
    """One answer being written: what `generate` asks before and after every token (a batch of one)."""

    def __init__(self, rules: TokenRules, schema: dict[str, Any], *, budget: int, cancelled: threading.Event) -> None:
        """`budget`: tokens after which the answer is brought to its end. Raises ValueError for a schema that
        cannot be followed."""
        grammar = llguidance.LLMatcher.grammar_from_json_schema(schema, defaults=_COMPILATION)
        self._matcher = llguidance.LLMatcher(rules.tokens, grammar, log_level=0)
        if self._matcher.is_error():
            raise ValueError(f"the schema cannot be followed: {self._matcher.get_error()}")
        self._rules = rules
        self._budget = budget
        self._cancelled = cancelled
        self._written: list[int] = []
        self.tokens = 0
        """How many tokens the model has written, those that were taken back included."""
        self.hurried = False
        """True when the budget was used up before the answer was complete."""

    @property
    def text(self) -> str:
        """The answer: valid JSON once `stop` was true for another reason than that nobody waits."""
        return self._decode(self._written)

    def allow(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        """A logits processor: scores of what may not come next become minus infinity."""
        mask = torch.frombuffer(bytearray(self._matcher.compute_logit_bias()), dtype=torch.uint8) != 0
        if self.hurried:
            outside, inside = self._rules.haste
            haste = torch.where(mask, inside if self._inside_string() else outside, -1)
            mask &= haste == haste.max()
        return scores.masked_fill(~mask[: scores.shape[-1]].to(scores.device), float("-inf"))

    def stop(self, input_ids: torch.Tensor, scores: Any, **_: Any) -> torch.Tensor:
        """A stopping criterion: takes note of the new token; true when the answer is complete or nobody waits."""
        token = int(input_ids[0, -1])
        self.tokens += 1
        if self._matcher.consume_token(token) and not self._rules.tokens.is_special_token(token):
            self._written.append(token)
        if self.tokens == self._budget and not self._matcher.is_stopped():
            self.hurried = True
            self._take_back_unfinished_item()
        done = self._matcher.is_stopped() or self._cancelled.is_set()
        return torch.tensor([done], device=input_ids.device)

    def _take_back_unfinished_item(self) -> None:
        """Nothing is made up: of a list of the answer's, the item in which the budget ran out is left out."""
        end = _end_of_whole_items(self.text)
        if end is None:
            return
        kept = len(self._written)
        while len(self._decode(self._written[:kept])) > end:
            kept -= 1
        self._matcher.rollback(len(self._written) - kept)
        del self._written[kept:]

    def _inside_string(self) -> bool:
        return _ESCAPED.sub("", self.text).count('"') % 2 == 1

    def _decode(self, tokens: Sequence[int]) -> str:
        raw: bytes = self._rules.tokens.decode_bytes(list(tokens))
        return raw.decode("utf-8", errors="ignore")


def _end_of_whole_items(text: str) -> int | None:
    """Offset after the last whole item of the list in which `text` breaks off; None where it breaks off in none.

    Lists that are fields of the answer itself count, not those within their items.
    """
    open_brackets, end = "", 0
    for position, character in json_structure(text):
        if character in "}]":
            open_brackets = open_brackets[:-1]
        elif character in "{[":
            open_brackets += character
        if open_brackets == "{[":
            end = position if character == "," else position + 1
    return end if open_brackets.startswith("{[") else None
