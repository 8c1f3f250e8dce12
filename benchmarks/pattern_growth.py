"""How the time of every pattern, and of judging a whole answer, grows with hostile text.

    python benchmarks/pattern_growth.py                  # every pattern, then 500 hostile answers and chunks
    python benchmarks/pattern_growth.py --answers 10000 --minutes 10  # as many as there is time for
    python benchmarks/pattern_growth.py --answers 10000 --minutes 10 --results FILE  # the same command goes on

Patterns: each compiled pattern of the evaluators is run over repeated pieces (the pieces are brackets, marks and the
pattern's own words) of n and 4n characters. The growth exponent is log4 of the ratio of the times: 1 for linear, 2
for quadratic. Judging: hostile texts of several shapes as answer, as chunk and as both. Reported is the longest step
between two points where other threads get the interpreter, in milliseconds of CPU time, and the growth exponent of
the whole.
"""

from __future__ import annotations

import argparse
import inspect
import json
import math
import re
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from _hostile_answers import PIECES, Stopwatch, evaluator_modules, hostile_texts

from rag_otel.cli.terminal import table
from rag_otel_evaluators.text import languages

GROWTH = 4
LEAST_SECONDS = 0.002
"""Shorter times say nothing about growth."""
SUSPICIOUS = 1.5
"""Exponent from which a pattern is reported as not linear."""
ANCHORED = frozenset(
    {"_RULE", "_TABLE_RULE", "_NEXT_WORD", "_MARKER", "_BOLD_LINE", "_AFFIRMED", "_LONE_SENTENCE", "_LONE_NUMBER"}
)
"""Patterns that are matched at one place and never searched for: their growth is that of a match."""

_LANGUAGES = languages.__name__ + "."
"""Functions of these modules without a parameter may compile patterns."""
_SHOWN = 10
_NAMED = 60


def patterns() -> Iterator[tuple[str, re.Pattern[str]]]:
    """Every compiled pattern of the evaluators, once, by the name of its place."""
    seen: set[tuple[str, int]] = set()
    for module in evaluator_modules():
        for name, value in vars(module).items():
            for at, pattern in enumerate(_patterns_in(value)):
                if isinstance(pattern.pattern, str) and (key := (pattern.pattern, pattern.flags)) not in seen:
                    seen.add(key)
                    yield f"{module.__name__.removeprefix('rag_otel_evaluators.')}.{name}[{at}]", pattern


def _patterns_in(value: object) -> list[re.Pattern[str]]:
    if isinstance(value, re.Pattern):
        return [value]
    if isinstance(value, tuple | list):
        return [pattern for pattern in value if isinstance(pattern, re.Pattern)]
    makes_patterns = str(getattr(value, "__module__", "")).startswith(_LANGUAGES)
    if makes_patterns and callable(value) and hasattr(value, "cache_info") and not inspect.signature(value).parameters:
        made = value()
        return [each for each in (made if isinstance(made, tuple) else (made,)) if isinstance(each, re.Pattern)]
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


class Found(NamedTuple):
    """How long judging one hostile text kept the interpreter."""

    number: int
    """Which of `hostile_texts`."""
    name: str
    place: str
    characters: int
    longest_ms: float
    total_ms: float


def earlier(results: Path | None) -> list[Found]:
    """What earlier runs have written to the file. A line that is not whole (the run was killed) is measured again."""
    if results is None or not results.exists():
        return []
    lines = results.read_text().splitlines()
    return [Found(*json.loads(line)) for line in lines if line.endswith("]")]


def measure_judging(count: int, characters: int, minutes: float, watch: Stopwatch, results: Path | None) -> list[Found]:
    """Judge the texts that earlier runs have not judged, until the time is up; all that are judged by now."""
    found = earlier(results)
    ends = time.monotonic() + 60 * minutes
    for number, text in enumerate(hostile_texts(count, characters, first=len(found)), len(found)):
        if time.monotonic() >= ends:
            print(f"\nthe time was up after {number:,} of {count:,} answers")
            break
        each = watch.measure(*text)
        size = max(len(each.answer), len(each.chunk))
        found.append(Found(number, each.name, each.place, size, each.longest_s * 1e3, each.total_s * 1e3))
        if results is not None:
            with results.open("a") as file:
                file.write(json.dumps(found[-1]) + "\n")
    return found


def growth(found: Found, characters: int, watch: Stopwatch) -> float:
    """Growth exponent of the time of all steps: of this text, and of a quarter of it."""
    name, answer, chunk = next(hostile_texts(found.number + 1, characters, first=found.number))
    shorter = watch.measure(name, answer[: len(answer) // GROWTH], chunk[: len(chunk) // GROWTH])
    return math.log(found.total_ms / max(shorter.total_s * 1e3, 1e-3), GROWTH)


def report_judging(count: int, characters: int, minutes: float, results: Path | None) -> None:
    """Print how long judging hostile answers keeps the interpreter: the distribution, and the worst."""
    watch = Stopwatch()
    found = measure_judging(count, characters, minutes, watch, results)
    held = sorted(each.longest_ms for each in found)
    shares = (0.5, 0.9, 0.99, 0.999)
    named = [f"p{share * 100:g} {held[min(len(held) - 1, int(share * len(held)))]:.2f}" for share in shares]
    print(f"\n{len(found):,} hostile answers of up to {characters:,} characters; longest step of each, ms of CPU time:")
    print(f"{', '.join(named)}, worst {held[-1]:.2f}; over 5 ms: {sum(each > 5 for each in held)}\n")
    rows = [
        [
            each.name if len(each.name) < _NAMED else each.name[:_NAMED] + " ...",
            f"{each.characters:,}",
            each.place,
            f"{each.longest_ms:.1f}",
            f"{each.total_ms:.0f}",
            f"{growth(each, characters, watch):.2f}",
        ]
        for each in sorted(found, key=lambda each: -each.longest_ms)[:_SHOWN]
    ]
    print(table(rows, header=["text", "characters", "step from", "longest, ms", "all, ms", "exponent"]))
    slowest = max(found, key=lambda each: each.total_ms)
    print(f"\nlongest in all: {slowest.total_ms:.0f} ms for {slowest.name[:_NAMED]}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--answers", type=int, default=500)
    parser.add_argument("--characters", type=int, default=50_000)
    parser.add_argument("--minutes", type=float, default=10.0, help="for judging, at most")
    parser.add_argument(
        "--results", type=Path, help="a file to which each answer is written; a later run goes on there"
    )
    arguments = parser.parse_args()
    linear = report_patterns(min(2_000, arguments.characters))
    report_judging(arguments.answers, arguments.characters, arguments.minutes, arguments.results)
    sys.exit(0 if linear else 1)


if __name__ == "__main__":
    main()
