"""How the time of every pattern, and of judging a whole answer, grows with hostile text.

    python benchmarks/pattern_growth.py                  # every pattern, then 500 hostile answers and chunks
    python benchmarks/pattern_growth.py --answers 10000 --characters 50000

Patterns: each compiled pattern of the evaluators is run over repeated pieces (the pieces are brackets, marks and the
pattern's own words) of n and 4n characters. The growth exponent is log4 of the ratio of the times: 1 for linear, 2
for quadratic. Judging: random hostile texts as answer, as chunk and as both. Reported are the longest step between
two cooperative points, in milliseconds of CPU time, and the growth exponent of the whole.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import math
import pkgutil
import random
import re
import sys
import time
from collections.abc import Callable, Generator, Iterator
from itertools import islice

import rag_otel_evaluators
from rag_otel.cli.terminal import table
from rag_otel.model import Chunk
from rag_otel_evaluators.judges.embedded import EmbeddedJudge
from rag_otel_evaluators.metrics.faithfulness import MOST_CLAIMS
from rag_otel_evaluators.text.claim_segmentation import Segmentation, iter_segments
from rag_otel_evaluators.text.languages import abstentions, discourse_markers

GROWTH = 4
LEAST_SECONDS = 0.002
"""Shorter times say nothing about growth."""
SUSPICIOUS = 1.5
"""Exponent from which a pattern is reported as not linear."""
ANCHORED = frozenset({"_RULE", "_TABLE_RULE", "_NEXT_WORD", "_MARKER", "_BOLD_LINE", "_AFFIRMED"})
"""Patterns that are matched at one place and never searched for: their growth is that of a match."""
PIECES = (
    *("[", "<", "[1", "(", "_", "*", "![", "](", "[](", "<a", "http://", "a-", "'", "1,", "1.", "\t", " ", "#", "|"),
    *("[ ", "1%", "\n-", "\n", "\n ", "a.", "A. ", "a. ", "., ", "a:\n- ", "-", "--", "| a |\n", "é", "é\u0301", "中"),
    *(
        "。",
        "「",
        "1. ",
        "x, ",
        "$5 ",
        '"',
        'said "',
        "5 May ",
        "1-",
        "\u00a0",
        "“",
        "，",
        "not ",
        "source ",
        "(source ",
    ),
    *("passage 1,", "text text ", "der kontext nicht ", "I don't know, but ", "no information ", "It is 330 m. ", "万"),
    *("1.250.000 ", "125万", "II ", "between 3 and ", "if ", "if not ", "all ", "said that ", "the A of B ", "? Yes. "),
    *("Alice hired Bob ", "aaaa", "```\n", "~~~\n", "\\", "&amp;", "10:30 ", "2024-01-", "May "),
)
BASE = "The tower is 330 metres high. It was built in 1889 by Gustave Eiffel, and all visitors may enter before noon."


def patterns() -> Iterator[tuple[str, re.Pattern[str]]]:
    """Every compiled pattern of the evaluators, once, by the name of its place."""
    seen: set[tuple[str, int]] = set()
    for module in pkgutil.walk_packages(rag_otel_evaluators.__path__, rag_otel_evaluators.__name__ + "."):
        try:
            names = vars(importlib.import_module(module.name))
        except ImportError:  # an optional package is not installed
            continue
        for name, value in names.items():
            for at, pattern in enumerate(_patterns_in(value)):
                if isinstance(pattern.pattern, str) and (key := (pattern.pattern, pattern.flags)) not in seen:
                    seen.add(key)
                    yield f"{module.name.removeprefix('rag_otel_evaluators.')}.{name}[{at}]", pattern


def _patterns_in(value: object) -> list[re.Pattern[str]]:
    if isinstance(value, re.Pattern):
        return [value]
    if isinstance(value, tuple | list):
        return [pattern for pattern in value if isinstance(pattern, re.Pattern)]
    makes_patterns = getattr(value, "__module__", "") in (abstentions.__name__, discourse_markers.__name__)
    if makes_patterns and callable(value) and hasattr(value, "cache_info") and not inspect.signature(value).parameters:
        made = value()
        return [made] if isinstance(made, re.Pattern) else list(made)
    return []


def seconds(work: Callable[[], object]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started


def exponent(pattern: re.Pattern[str], piece: str, characters: int, *, anchored: bool) -> float:
    """Growth exponent of matching, and of searching, a row of the piece; 0 where it is too fast to tell."""

    def once(size: int) -> float:
        text = piece * (size // len(piece))
        matching = seconds(lambda: pattern.match(text + "\x00a"))
        if anchored:
            return matching
        return matching + seconds(lambda: [sum(1 for _ in pattern.finditer(text + end)) for end in ("", "\x00a")])

    longer = once(characters * GROWTH)
    if longer < LEAST_SECONDS:
        return 0.0
    return math.log(longer / max(once(characters), 1e-6), GROWTH)


def pieces_for(pattern: re.Pattern[str]) -> list[str]:
    own = re.findall(r"[a-z]{3,}|[\u3040-\u9fff]{2,}", pattern.pattern, re.IGNORECASE)[:12]
    return [*PIECES, *(word + " " for word in own), *own]


def report_patterns(characters: int) -> bool:
    """Print the patterns that are not linear; True where there is none."""
    rows, count = [], 0
    for name, pattern in patterns():
        count += 1
        anchored = name.rpartition(".")[2].partition("[")[0] in ANCHORED
        worst = max((exponent(pattern, piece, characters, anchored=anchored), piece) for piece in pieces_for(pattern))
        if worst[0] >= SUSPICIOUS:  # measured once more: a busy machine makes a time look long
            again = min(exponent(pattern, worst[1], characters, anchored=anchored) for _ in range(3))
            if again >= SUSPICIOUS:
                rows.append([name, f"{again:.2f}", repr(worst[1]), pattern.pattern[:60].replace("\n", " ")])
    print(f"{count} patterns, {len(rows)} of them not linear\n")
    if rows:
        print(table(rows, header=["pattern", "exponent", "piece", ""]))
    return not rows


def steps_of(answer: str, chunk: str) -> Generator[None, None, None]:
    """The whole of judging, one cooperative step at a time, as the metric does it."""
    segments = []
    for segment in islice(iter_segments(answer), MOST_CLAIMS):
        segments.append(segment)
        yield
    claims = Segmentation(text=answer, segments=tuple(segments)).claims
    yield
    if claims:
        judge = EmbeddedJudge(remembered_characters=0)
        chunks = [Chunk(id="0", text=chunk, position=0)]
        yield from judge.steps(question="How tall is it?", chunks=chunks, response=answer, claims=claims)


def longest_step(answer: str, chunk: str) -> tuple[float, float]:
    """(longest step, all steps together) in seconds of CPU time."""
    longest = total = 0.0
    work = steps_of(answer, chunk)
    done = False
    while not done:
        started = time.thread_time()
        done = next(work, work) is work
        took = time.thread_time() - started
        longest, total = max(longest, took), total + took
    return longest, total


def hostile_texts(count: int, characters: int) -> Iterator[tuple[str, str, str]]:
    """(what it is, answer, chunk)."""
    chosen = random.Random(0)
    for number in range(count):
        unit = "".join(chosen.choices(PIECES, k=1 if number < 2 * len(PIECES) else chosen.randint(1, 4)))
        if number < 2 * len(PIECES):
            unit = PIECES[number // 2]
        text = unit * (characters // len(unit))
        form = ("answer", "chunk", "both")[number % 2 if number < 2 * len(PIECES) else number % 3]
        answer = BASE if form == "chunk" else text
        yield f"{form}: {unit!r}", answer, BASE if form == "answer" else text


def report_judging(count: int, characters: int) -> None:
    longest_step(BASE, BASE)  # tables and patterns are loaded
    found = []
    for name, answer, chunk in hostile_texts(count, characters):
        longest, total = longest_step(answer, chunk)
        found.append((longest, total, name, answer, chunk))
    found.sort(key=lambda entry: -entry[0])
    rows = []
    for longest, total, name, answer, chunk in found[:10]:
        shorter = longest_step(answer[: len(answer) // GROWTH + 1], chunk[: max(len(BASE), len(chunk) // GROWTH)])[1]
        rows.append(
            [name, f"{longest * 1e3:.1f}", f"{total * 1e3:.0f}", f"{math.log(total / max(shorter, 1e-6), GROWTH):.2f}"]
        )
    print(f"\n{len(found)} hostile texts of {characters:,} characters; those with the longest steps:\n")
    print(table(rows, header=["text", "longest step, ms", "all, ms", "exponent"]))
    slowest = max(found, key=lambda entry: entry[1])
    print(f"\nlongest in all: {slowest[1] * 1e3:.0f} ms for {slowest[2]}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--answers", type=int, default=500)
    parser.add_argument("--characters", type=int, default=50_000)
    arguments = parser.parse_args()
    linear = report_patterns(min(2_000, arguments.characters))
    report_judging(arguments.answers, arguments.characters)
    sys.exit(0 if linear else 1)


if __name__ == "__main__":
    main()
