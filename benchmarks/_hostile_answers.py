"""Hostile answers and chunks, and how long judging one of them keeps the interpreter.

The metric runs as the worker runs it, one step at a time: a step ends where other threads get the interpreter. Times
are CPU time of the thread, so a busy machine does not make them longer.
"""

from __future__ import annotations

import gc
import importlib
import pkgutil
import random
import sys
import time
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Final

import rag_otel_evaluators
from rag_otel.errors import ConfigurationError
from rag_otel.model import Chunk
from rag_otel_evaluators.cooperative import cooperatively, time_slice
from rag_otel_evaluators.metrics.faithfulness import Faithfulness
from rag_otel_evaluators.text.terms import WordMemo

PIECES: Final = (
    *("[", "<", "[1", "(", "_", "*", "![", "](", "[](", "<a", "http://", "a-", "'", "1,", "1.", "\t", " ", "#", "|"),
    *("[ ", "1%", "\n-", "\n", "\n ", "a.", "A. ", "a. ", "., ", "a:\n- ", "-", "--", "| a |\n", "é", "é\u0301", "中"),
    *("。", "「", "1. ", "x, ", "$5 ", '"', 'said "', "5 May ", "1-", "\u00a0", "“", "，", "not ", "source "),
    *("(source ", "passage 1,", "text text ", "der kontext nicht ", "I don't know, but ", "no information "),
    *("It is 330 m. ", "万", "1.250.000 ", "125万", "II ", "between 3 and ", "if ", "if not ", "all ", "said that "),
    *("the A of B ", "? Yes. ", "Alice hired Bob ", "aaaa", "```\n", "~~~\n", "\\", "&amp;", "10:30 ", "2024-01-"),
    *("May ", "2024-01-31 ", "Is it? ", "\u0000", "\u200f", "\u0301", "\ud800", "🗼", "१", "٣٫٥ "),
)
BASE: Final = (
    "The tower is 330 metres high. It was built in 1889 by Gustave Eiffel, and all visitors may enter before noon."
)
_PAIRS: Final = (("(", ")"), ("[", "]"), ("<", ">"), ("“", "”"), ("【", "】"), ("**", "**"), ("[(", ")]"), ("- ", "\n"))
_LONG_EVERY: Final = 100
"""Every so many texts one has all the characters; the others are much shorter."""
_AGAIN_FROM_S: Final = 0.002
_REPEATS: Final = 3


def _row(dice: random.Random, characters: int) -> tuple[str, str]:
    unit = "".join(dice.choices(PIECES, k=dice.choice((1, 1, 2, 3, 4))))
    return unit * (characters // len(unit)), repr(unit)


def _row_that_fails(dice: random.Random, characters: int) -> tuple[str, str]:
    text, name = _row(dice, characters)
    end = dice.choice(("\x00a", "]", ")", "!", "\n\n", " x"))
    return text + end, f"{name} ... {end!r}"


def _mixed(dice: random.Random, characters: int) -> tuple[str, str]:
    pieces = dice.sample(PIECES, k=dice.randint(2, 12))
    text = "".join(dice.choices(pieces, k=characters // 2))[:characters]
    return text, " ".join(map(repr, pieces))


def _nested(dice: random.Random, characters: int) -> tuple[str, str]:
    opening, closing = dice.choice(_PAIRS)
    depth = characters // (len(opening) + len(closing))
    inside = dice.choice(PIECES)
    return opening * depth + inside + closing * depth, f"{opening} {inside!r} {closing}"


def _sentences(dice: random.Random, characters: int) -> tuple[str, str]:
    names = [f"N{dice.randint(0, 400)}" for _ in range(40)]
    parts = (
        lambda: (
            f"{dice.choice(names)} paid {dice.randint(0, 9999)} dollars "
            f"on {dice.randint(1, 28)} May {dice.randint(1900, 2030)}"
        ),
        lambda: f"{dice.choice(names)} is not {dice.choice(names)}",
        lambda: f"between {dice.randint(0, 99)} and {dice.randint(0, 99)} % of all {dice.choice(names)}",
        lambda: dice.choice(PIECES),
    )
    text, end = "", dice.choice((". ", ", ", "; ", "\n- ", " | "))
    while len(text) < characters:
        text += dice.choice(parts)() + end
    return text[:characters], f"facts, {end!r} between them"


def _mutated(dice: random.Random, characters: int) -> tuple[str, str]:
    letters = list(BASE * (characters // len(BASE) + 1))[:characters]
    pieces = dice.sample(PIECES, k=3)
    for _ in range(characters // dice.choice((3, 10, 40))):
        letters[dice.randrange(len(letters))] = dice.choice(pieces)
    return "".join(letters)[:characters], f"sentences with {' '.join(map(repr, pieces))}"


def _any_characters(dice: random.Random, characters: int) -> tuple[str, str]:
    first = dice.choice((0x20, 0x300, 0x590, 0x600, 0x900, 0x4E00, 0x1F300, 0xD800, 0x2000))
    text = "".join(chr(first + dice.randrange(dice.choice((2, 64, 256)))) for _ in range(characters))
    return text, f"characters from U+{first:04X}"


def _one_word(dice: random.Random, characters: int) -> tuple[str, str]:
    alphabet = dice.choice(("a", "ab", "aA", "a'", "0", "0,", "a-", "é", "中文", "I", "MCM"))
    return "".join(dice.choices(alphabet, k=characters)), f"one word of {alphabet!r}"


SHAPES: Final[tuple[Callable[[random.Random, int], tuple[str, str]], ...]] = (
    _row,
    _row_that_fails,
    _mixed,
    _nested,
    _sentences,
    _mutated,
    _any_characters,
    _one_word,
)


def hostile_texts(count: int, characters: int, *, first: int = 0, seed: int = 0) -> Iterator[tuple[str, str, str]]:
    """(what it is, answer, chunk): first each piece in a row of a quarter of the characters, then every shape in turn.

    Of 100 texts one has all the characters, the others a tenth of them down to a few hundred. A number's text is
    always the same, so a run may begin with any number below `count`.
    """
    for number in range(first, count):
        dice = random.Random(f"{seed} {number}")
        size = characters if number % _LONG_EVERY == 0 else max(200, int(characters * 0.1 * dice.random() ** 3))
        if number < len(PIECES):
            text, name = PIECES[number] * (characters // 4 // len(PIECES[number])), repr(PIECES[number])
        else:
            shape = SHAPES[number % len(SHAPES)]
            text, name = shape(dice, size)
            name = f"{shape.__name__.strip('_')}: {name}"
        form = ("answer", "chunk", "both")[number // len(SHAPES) % 3]
        yield f"{form}, {name}", BASE if form == "chunk" else text, BASE if form == "answer" else text


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """How long judging one answer kept the interpreter."""

    name: str
    answer: str
    chunk: str
    longest_s: float
    """The longest step, in seconds of CPU time."""
    total_s: float
    """All steps together."""
    place: str
    """Where the longest step began."""


def evaluator_modules() -> Iterator[ModuleType]:
    """Every module of the evaluators, imported; without those that need a package that is not installed."""
    for module in pkgutil.walk_packages(rag_otel_evaluators.__path__, rag_otel_evaluators.__name__ + "."):
        try:
            yield importlib.import_module(module.name)
        except (ImportError, ConfigurationError):
            print(f"left out, because it needs a package that is not installed: {module.name}", file=sys.stderr)


class Stopwatch:
    """Judges answers step by step. What the evaluators remember of words is forgotten before each of them."""

    def __init__(self) -> None:
        for _ in evaluator_modules():
            pass
        self._memos = [each for each in gc.get_objects() if type(each) is WordMemo]
        self._metric = Faithfulness()
        self._metric.prepare()
        self._once(BASE, BASE)
        gc.collect()
        gc.freeze()  # a collection would look at everything that this script has imported

    def measure(self, name: str, answer: str, chunk: str) -> Held:
        """A long step is measured three times, and the shortest counts: the first may have met a cold processor."""
        longest, total, place = self._once(answer, chunk)
        for _ in range(_REPEATS - 1 if longest > _AGAIN_FROM_S else 0):
            longest, total, place = min((longest, total, place), self._once(answer, chunk))
        return Held(name=name, answer=answer, chunk=chunk, longest_s=longest, total_s=total, place=place)

    def _once(self, answer: str, chunk: str) -> tuple[float, float, str]:
        for memo in self._memos:
            memo.clear()
        longest, total, place, at, done = 0.0, 0.0, "", "beginning", False
        chunks = [Chunk(id="0", text=chunk, position=0)]
        with time_slice(0.0):
            work = self._metric.evaluate(question="How tall is it?", chunks=chunks, response=answer)
            while not done:
                started = time.thread_time()
                try:
                    work.send(None)
                except StopIteration:
                    done = True
                took = time.thread_time() - started
                total += took
                if took > longest:
                    longest, place = took, at
                at = "" if done else _place(work)
        return longest, total, place


def _place(work: Coroutine[Any, Any, Any]) -> str:
    """file:line of the point between two steps where the work stands."""
    inner: Any = work
    while inner.cr_frame.f_code is not cooperatively.__code__:
        inner = inner.cr_await
    inner = inner.cr_frame.f_locals["work"]
    while hasattr(inner.gi_yieldfrom, "gi_frame"):
        inner = inner.gi_yieldfrom
    return f"{inner.gi_frame.f_code.co_filename.rpartition('/')[2]}:{inner.gi_frame.f_lineno}"
