"""Whether two versions of the embedded judge say the same to the byte: for changes that may only make it faster.

    git worktree add ../before COMMIT && python benchmarks/faithfulness_digest.py --against ../before

Each answer's evaluation, and all that was measured in its claims, goes into a hash. Answers: those of examples/data
with their own chunks and with others', sentences put together at random and changed, and hostile texts. Without
`--against` the hash of all of them is printed.
"""

from __future__ import annotations

import argparse
import asyncio
import dataclasses
import hashlib
import json
import os
import random
import re
import subprocess
import sys
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from _hostile_answers import hostile_texts

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT / "examples" / "data"
SALADS = 300
HOSTILE = 150
HOSTILE_CHARACTERS = 3_000
SHOWN = 5
_SENTENCE_ENDS = re.compile(r"(?<=[.!?。])\s*")
_SLIPPED_IN = ("not", "never", "no", "only", "all", "may", "12", "[2]", "3 May 2010", "40 %", "because")

Case = tuple[str, str, list[str], str]
"""(kind, question, chunks, answer)."""


def cases() -> Iterator[Case]:
    """All answers, in the same order every time."""
    rows, pairs = _rows("ragtruth_qa_dev.jsonl"), _rows("contrast_train.jsonl")
    for at, row in enumerate(rows):
        other = rows[(at + 7) % len(rows)]["contexts"]
        yield "own chunks", row["question"], row["contexts"], row["response"]
        yield "other chunks", row["question"], other + row["contexts"][:2], row["response"]
    for row in pairs:
        for side in ("faithful", "unfaithful"):
            yield side, row["question"], row["contexts"], row[side]
    yield from _salads([*rows, *pairs], random.Random(1))
    for name, answer, chunk in hostile_texts(HOSTILE, HOSTILE_CHARACTERS):
        yield f"hostile: {name}", "How tall is it?", [chunk, "Filler text 12 May 2010."], answer


def _rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (DATA / name).read_text(encoding="utf-8").splitlines()]


def _salads(rows: list[dict[str, Any]], chosen: random.Random) -> Iterator[Case]:
    """Sentences of the chunks and of others, some with a word changed, moved or slipped in."""
    texts = [text for row in rows for text in row["contexts"]]
    sentences = list(chain.from_iterable(map(_sentences, texts)))
    for _ in range(SALADS):
        chunks = chosen.sample(texts, chosen.randint(1, 6))
        own = list(chain.from_iterable(map(_sentences, chunks))) or sentences
        said = [
            _changed(chosen.choice(own if chosen.random() < 0.7 else sentences), sentences, chosen)
            for _ in range(chosen.randint(1, 7))
        ]
        yield "salad", chosen.choice(rows)["question"], chunks, chosen.choice([" ", "\n- ", "\n"]).join(said)


def _sentences(text: str) -> list[str]:
    return [sentence for sentence in _SENTENCE_ENDS.split(text) if 10 < len(sentence) < 300]


def _changed(sentence: str, sentences: list[str], chosen: random.Random) -> str:
    words, change = sentence.split(" "), chosen.random()
    at, other = chosen.randrange(len(words)), chosen.randrange(len(words))
    if change < 0.3:
        words[at] = chosen.choice(chosen.choice(sentences).split(" "))
    elif change < 0.5:
        words[at], words[other] = words[other], words[at]
    elif change < 0.7:
        words.insert(at, chosen.choice(_SLIPPED_IN))
    return " ".join(words)


def write_digests() -> None:
    """A line for each answer: its kind, how many claims were measured, its hash. With the version that is imported."""
    from rag_otel_evaluators.judges.embedded import verdicts
    from rag_otel_evaluators.metrics.faithfulness import Faithfulness

    measured: list[str] = []
    compare_steps = verdicts.compare_steps

    def noted(*arguments: Any, **options: Any) -> Any:
        assessed = yield from compare_steps(*arguments, **options)
        laid = assessed.alignment
        measured.append(repr((assessed, laid.coverage, laid.has_unseen_digits, laid.unseen_words)))
        return assessed

    verdicts.compare_steps = noted  # type: ignore[assignment]  # what is measured is part of no result

    async def write() -> None:
        metric = Faithfulness()
        for kind, question, chunks, answer in cases():
            measured.clear()
            result = await metric.evaluate(question=question, chunks=chunks, response=answer)
            said = repr((dataclasses.replace(result, duration_s=0.0), measured))
            digest = hashlib.blake2b(said.encode("utf-8", "backslashreplace"), digest_size=16).hexdigest()
            print(json.dumps([kind, len(measured), digest]), flush=True)

    asyncio.run(write())


def digests_of(folder: Path) -> subprocess.Popen[str]:
    """A process that writes the digests of a checkout."""
    paths = os.pathsep.join(str(folder / name) for name in ("", "collectors", "evaluators"))
    # Sets of texts are not in the same order in every process, and what is measured holds sets.
    environment = {**os.environ, "PYTHONPATH": paths, "PYTHONHASHSEED": "0"}
    return subprocess.Popen([sys.executable, __file__, "--write"], stdout=subprocess.PIPE, text=True, env=environment)


def main() -> int:
    """Print the digest, or what differs; 1 if anything does."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--against", type=Path, help="a checkout of another commit")
    parser.add_argument("--write", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.write:
        write_digests()
        return 0
    if arguments.against is not None and not (arguments.against / "rag_otel").is_dir():
        raise SystemExit(f"--against {arguments.against}: no checkout of rag-otel")
    folders = [ROOT] if arguments.against is None else [ROOT, arguments.against.resolve()]
    processes = [digests_of(folder) for folder in folders]
    written = [process.communicate()[0].splitlines() for process in processes]
    if any(process.returncode for process in processes):
        raise SystemExit("a version has failed; see above")
    claims = sum(json.loads(line)[1] for line in written[0])
    print(f"{len(written[0]):,} answers, {claims:,} claims measured")
    if len(written) == 1:
        print(hashlib.blake2b("\n".join(written[0]).encode(), digest_size=16).hexdigest())
        return 0
    different = [json.loads(one)[0] for one, other in zip(*written, strict=True) if one != other]
    print(f"different: {len(different)} {different[:SHOWN] if different else ''}")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
