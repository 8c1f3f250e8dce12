"""A stand-in for a good judge: reads the prompts of faithfulness and answers them by word overlap, at length.

For `JudgeServer(answer=answer)`, and for a server of its own: `python -m testkit.judge_server --answer
testkit.word_overlap_judge:answer`. Deterministic.
"""

from __future__ import annotations

import re
from typing import Any, Final

from testkit.judge_server import JudgeRequest

_ITEM: Final = re.compile(r"^\[([\w.]+)\] (.*)$", re.MULTILINE)
_CLAUSE: Final = re.compile(r"; |, (?:and|but|which|while|so) ")
_SUPPORTED_FROM: Final = 0.6
_REASON_WORDS: Final = 12


def fields_of(request: JudgeRequest) -> dict[str, str]:
    """The blocks between tags in the last message, by name."""
    content = str(request.body["messages"][-1]["content"])
    return {match[1]: match[2] for match in re.finditer(r"<(\w+)>\n(.*?)\n</\1>", content, re.DOTALL)}


def items_of(block: str) -> dict[str, str]:
    """The numbered items of a block: id -> text."""
    return {match[1]: match[2] for match in _ITEM.finditer(block)}


def answer(request: JudgeRequest) -> dict[str, Any]:
    """Statements for sentences, verdicts for claims."""
    fields = fields_of(request)
    if "sentences" in fields:
        return {
            "statements": [
                {"sentence": int(number), "statement": clause.strip()}
                for number, sentence in items_of(fields["sentences"]).items()
                for clause in _CLAUSE.split(sentence)
                if clause.strip()
            ]
        }
    evidence = items_of(fields["chunks"])
    return {"verdicts": [_verdict(int(n), claim, evidence) for n, claim in items_of(fields["claims"]).items()]}


def quick_answer(request: JudgeRequest) -> dict[str, Any]:
    """Every claim supported by the first sentence: costs the server next to nothing, for measuring the client."""
    claims = items_of(fields_of(request)["claims"])
    return {
        "verdicts": [
            {"claim": int(n), "evidence": ["c0.s0"], "reason": "Said so.", "verdict": "supported"} for n in claims
        ]
    }


def _verdict(number: int, claim: str, evidence: dict[str, str]) -> dict[str, Any]:
    words = _words(claim)
    ranked = sorted(evidence, key=lambda key: (-len(words & _words(evidence[key])), key))
    covered = len(words & _words(evidence[ranked[0]])) / max(1, len(words))
    supported = covered >= _SUPPORTED_FROM
    told = " ".join(evidence[ranked[0]].split()[:_REASON_WORDS])
    return {
        "claim": number,
        "evidence": ranked[:1] if supported else [],
        "reason": f"The passage says: {told}." if supported else "The passages do not say all of this in one place.",
        "verdict": "supported" if supported else "not_enough_info",
        "confidence": 0.95 if supported else 0.9,
    }


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower()))
