"""Build contrast_test.jsonl.gz and abstention_test.jsonl.gz from the hand-written data files.

Deterministic: the same data files give the same bytes. Usage: python build.py
"""

from __future__ import annotations

import hashlib
import random
import re
from pathlib import Path
from typing import Any

import data_abstention
import data_de
import data_en
import data_en2
import data_en3
import data_es
import data_fr
import data_more
import data_shared
import data_zh
from check_overlap import content_tokens
from files import pack

HERE = Path(__file__).parent
SOURCES = {
    "en": [data_en.DATA, data_en2.DATA, data_en3.DATA],
    "es": [data_es.DATA, data_more.ES],
    "de": [data_de.DATA, data_more.DE],
    "fr": [data_fr.DATA, data_more.FR],
    "zh": [data_zh.DATA, data_more.ZH],
}
POINT = re.compile(r"\[\[(.*?)\|\|(.*?)\]\]")
MAX_WORDS = 245
MAX_DISTRACTOR_USES = 4
FURTHER = 0.3  # share of one-sentence answers that get one more true sentence
JOINED = 0.2  # share of pairs whose evidence stands in one longer passage


def words(text: str) -> int:
    """Length in words; a Chinese character counts as .6 words."""
    han = len(re.findall(r"[\u4e00-\u9fff]", text))
    rest = re.sub(r"[\u4e00-\u9fff]", " ", text)
    return round(han * 0.6) + len(re.findall(r"\w+", rest))


def parse(data: str) -> list[dict[str, Any]]:
    """Read the blocks of one data file: name, passages and pairs."""
    blocks: list[dict[str, Any]] = []
    for line in data.strip().splitlines():
        if line.startswith("# "):
            blocks.append({"name": line[2:].strip(), "passages": [], "pairs": []})
        elif line.startswith("P: "):
            blocks[-1]["passages"].append(line[3:].strip().replace("\\n", "\n"))
        elif line.strip():
            phenomenon, question, answer = line.split(" | ", 2)
            if len(POINT.findall(answer)) != 1:
                raise ValueError(f"one [[x||y]] is needed: {line}")
            blocks[-1]["pairs"].append((phenomenon, question, answer))
    return blocks


def twin(answer: str, side: int) -> str:
    """The faithful (1) or unfaithful (2) wording, with a capital at its start."""
    text = POINT.sub(lambda m: m.group(side).strip(), answer).strip()
    return text[0].upper() + text[1:]


def with_further(answer: str, language: str, block: str, question: str) -> str:
    """Add the block's further sentence to some of the one-sentence answers."""
    further = data_shared.shared(language, block)
    rng = rng_for(f"further/{language}/{question}/{answer}")
    one_sentence = len(re.findall(r"[.!?\u3002](?=\s|$|[\u4e00-\u9fff])", POINT.sub("x", answer))) == 1
    if not further or not one_sentence or rng.random() >= FURTHER:
        return answer
    return answer + ("" if language == "zh" else " ") + further


def rng_for(key: str) -> random.Random:
    return random.Random(int(hashlib.sha256(key.encode()).hexdigest(), 16))


def distractors(
    language: str,
    block: dict[str, Any],
    blocks: list[dict[str, Any]],
    pair: tuple[str, str, str],
    uses: dict[str, int],
) -> list[str]:
    """Passages of other blocks that share no content word with the question and few with the answers."""
    _, question, answer = pair
    rng = rng_for(f"{language}/{block['name']}/{question}/{answer}")
    room = MAX_WORDS - sum(map(words, block["passages"]))
    wanted = min(rng.choice([0, 0, 1, 1, 2]), 4 - len(block["passages"]))
    asked = content_tokens(question, language)
    said = content_tokens(twin(answer, 1) + " " + twin(answer, 2), language)
    asked = {w for w in asked if not w.isdigit()}
    said = {w for w in said if not w.isdigit()}
    if language == "zh":
        asked = said = asked | said
    pool = [p for other in blocks if other is not block for p in other["passages"]]
    rng.shuffle(pool)
    chosen: list[str] = []
    for passage in pool:
        if len(chosen) == wanted:
            break
        tokens = content_tokens(passage, language)
        limit = 1 if language == "zh" else 0
        if len(asked & tokens) > limit or len(said & tokens) > limit + 1 or words(passage) > room:
            continue
        if uses.get(passage, 0) >= MAX_DISTRACTOR_USES:
            continue
        uses[passage] = uses.get(passage, 0) + 1
        room -= words(passage)
        chosen.append(passage)
    return chosen


def contrast_rows() -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for language, sources in SOURCES.items():
        blocks = [b for source in sources for b in parse(source)]
        uses: dict[str, int] = {}
        counts: dict[str, int] = {}
        for block in blocks:
            for pair in block["pairs"]:
                phenomenon, question, answer = pair
                if phenomenon != "paraphrase":
                    answer = with_further(answer, language, block["name"], question)
                own = block["passages"]
                if phenomenon != "multi_hop" and rng_for("join/" + language + question + answer).random() < JOINED:
                    own = ["\n".join(own)]
                contexts = own + distractors(language, block, blocks, pair, uses)
                rng_for("order/" + language + question + answer).shuffle(contexts)
                counts[phenomenon] = counts.get(phenomenon, 0) + 1
                rows.append(
                    {
                        "id": f"{language}-{phenomenon}-{counts[phenomenon]:03d}",
                        "language": language,
                        "phenomenon": phenomenon,
                        "question": question,
                        "contexts": contexts,
                        "faithful": twin(answer, 1),
                        "unfaithful": twin(answer, 2),
                    }
                )
    return rows


def main() -> None:
    """Write both sets; refuse to change them: they are frozen."""
    sums = dict(reversed(line.split()) for line in (HERE / "SHA256SUMS").read_text().splitlines())
    for name, rows in (("contrast_test", contrast_rows()), ("abstention_test", data_abstention.rows())):
        found = hashlib.sha256(pack(name, rows)).hexdigest()
        if found != sums[f"{name}.jsonl"]:
            raise SystemExit(f"{name}.jsonl: another benchmark (SHA-256 {found}); give it another name")


if __name__ == "__main__":
    main()
