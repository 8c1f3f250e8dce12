"""Which secrets masking finds, of forms that its author did not choose, and what it masks where there are none.

    pip install detect-secrets
    python benchmarks/secret_forms.py path/to/gitleaks.toml

Forms: every rule of gitleaks (https://github.com/gitleaks/gitleaks, MIT, config/gitleaks.toml), which no
pattern was written after; and of the plugins of detect-secrets, which they were written after, where it is installed.
Of each form values are drawn from its own regular expression, so nothing that looks like a key is in the repository. A
value is found if its last eight characters and most of it are gone. "In its context" is the rule's own match, with the
vendor's name or the assignment that it asks for; "alone" is the bare value in a sentence. Texts without secrets: the
chunks and answers of examples/data.
"""

from __future__ import annotations

import argparse
import importlib
import json
import pkgutil
import random
import re
import string
import tomllib
from collections.abc import Iterator
from pathlib import Path
from re import _constants as op  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any, NamedTuple

from rag_otel.cli.terminal import table
from rag_otel.safety.masking import SECRETS, Placeholders

DATA = Path(__file__).parents[1] / "examples/data/ragtruth_qa_dev.jsonl"
DRAWS = 20
LEFT = 8
LONG_ENOUGH = 10
USUAL = 24
"""Repetitions where a form has no upper bound, beyond its lower one."""
NEEDS_A_NAME = r"[\w.-]{0,50}?"
"""Begins the rules of gitleaks that find a value by the vendor's name in front of it: the value itself has no form."""
_CATEGORIES = {
    op.CATEGORY_WORD: string.ascii_letters + string.digits + "_",
    op.CATEGORY_DIGIT: string.digits,
    op.CATEGORY_SPACE: " ",
    op.CATEGORY_NOT_SPACE: string.ascii_letters + string.digits,
    op.CATEGORY_NOT_WORD: " ",
}
_ANY = string.ascii_letters + string.digits


class Form(NamedTuple):
    """A kind of secret, as others describe it."""

    name: str
    pattern: str
    by_name: bool


class Drawn(NamedTuple):
    """A text that matches a form, and the secret in it."""

    text: str
    secret: str


def main() -> None:
    """Print the rates."""
    options = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    options.add_argument("rules", type=Path, help="gitleaks.toml")
    rows = []
    gitleaks = list(gitleaks_forms(options.parse_args().rules))
    sets = (
        ("gitleaks, forms of their own", [form for form in gitleaks if not form.by_name]),
        ("gitleaks, by a vendor's name", [form for form in gitleaks if form.by_name]),
        ("detect-secrets", list(detect_secrets_forms())),
    )
    for name, forms in sets:
        missed = {context: rates(forms, alone=context == "alone") for context in ("in its context", "alone")}
        for context, by_form in missed.items():
            if by_form:
                whole = sum(rate == 1.0 for rate in by_form.values())
                rows.append((name, context, f"{sum(by_form.values()) / len(by_form):.1%}", f"{whole}/{len(by_form)}"))
        lowest = sorted((rate, form) for form, rate in missed["alone"].items() if rate < 1.0)
        print(f"{name}, alone, not all found:", ", ".join(f"{form} {rate:.0%}" for rate, form in lowest), "\n")
    print(table(rows, header=("forms", "", "values found", "forms found always")))
    print(f"\nWithout secrets: {masked_without_secrets()}")


def gitleaks_forms(path: Path) -> Iterator[Form]:
    """The rules that have a regular expression; those of Go that Python writes otherwise are rewritten."""
    for rule in tomllib.loads(path.read_text(encoding="utf-8"))["rules"]:
        if "regex" in rule:
            pattern = rule["regex"].replace("(?i)", "").replace(r"\z", r"\Z")
            pattern = re.sub(r"\[\[:alnum:\]\]", "[A-Za-z0-9]", pattern)
            yield Form(rule["id"], pattern, rule["regex"].startswith(("(?i)" + NEEDS_A_NAME, NEEDS_A_NAME)))


def detect_secrets_forms() -> Iterator[Form]:
    """The regular expressions of its plugins but for those that find what is named, or nothing secret."""
    try:
        plugins = importlib.import_module("detect_secrets.plugins")
    except ImportError:
        return
    for found in pkgutil.iter_modules(plugins.__path__):
        if found.name in ("base", "keyword", "ip_public", "high_entropy_strings", "private_key"):
            continue
        module = importlib.import_module(f"detect_secrets.plugins.{found.name}")
        for detector in vars(module).values():
            if isinstance(detector, type) and detector.__module__ == module.__name__:
                for number, pattern in enumerate(getattr(detector, "denylist", ())):
                    yield Form(f"{found.name} {number}", pattern.pattern, by_name=False)


def rates(forms: list[Form], *, alone: bool) -> dict[str, float]:
    """Form -> share of its values that are found."""
    found: dict[str, float] = {}
    for form in forms:
        draw = random.Random(form.name)
        values = [drawn(form.pattern, draw) for _ in range(DRAWS)]
        texts = [f"The value for this is {each.secret} today." if alone else each.text for each in values]
        found[form.name] = sum(is_masked(text, each.secret) for text, each in zip(texts, values, strict=True)) / DRAWS
    return found


def is_masked(text: str, secret: str) -> bool:
    """True if its end is gone and most of it: a form may begin with a name or an address, which may stay."""
    masked = mask(text)
    pieces = [secret[at : at + LEFT] for at in range(max(1, len(secret) - LEFT + 1))]
    return pieces[-1] not in masked and 2 * sum(piece in masked for piece in pieces) < len(pieces)


def mask(text: str) -> str:
    placeholders = Placeholders((SECRETS,))
    for _ in placeholders.learn(text):
        pass
    return placeholders.mask(text)


def drawn(pattern: str, draw: random.Random) -> Drawn:
    """A text that the pattern matches, and its longest group, or all of it where the groups are small parts."""
    groups: dict[int, str] = {}
    text = _draw(parser.parse(pattern), draw, groups)
    longest = max((each.strip() for each in groups.values()), key=len, default="")
    return Drawn(text, longest if len(longest) >= LONG_ENOUGH else text.strip())


def _draw(nodes: Any, draw: random.Random, groups: dict[int, str]) -> str:
    parts = []
    for kind, given in nodes:
        if kind is op.LITERAL:
            parts.append(chr(given))
        elif kind is op.NOT_LITERAL or kind is op.ANY:
            parts.append(draw.choice(_ANY))
        elif kind is op.IN:
            parts.append(draw.choice(_characters(given)))
        elif kind is op.BRANCH:
            parts.append(_draw(draw.choice(given[1]), draw, groups))
        elif kind is op.SUBPATTERN:
            number, _, _, inside = given
            parts.append(_draw(inside, draw, groups))
            if number is not None:
                groups[number] = parts[-1]
        elif kind in (op.MAX_REPEAT, op.MIN_REPEAT):
            least, most, inside = given
            longest = least + USUAL if most is op.MAXREPEAT else most
            times = least if kind is op.MIN_REPEAT else draw.randint(least, longest)
            parts += [_draw(inside, draw, groups) for _ in range(times)]
    return "".join(parts)


def _characters(members: Any) -> str:
    if members[0][0] is op.NEGATE:
        excluded = _characters(members[1:])
        return "".join(each for each in _ANY if each not in excluded) or " "
    found = []
    for kind, given in members:
        if kind is op.LITERAL:
            found.append(chr(given))
        elif kind is op.RANGE:
            found += map(chr, range(given[0], given[1] + 1))
        else:
            found.append(_CATEGORIES[given])
    return "".join(found)


def masked_without_secrets() -> str:
    """How much of ordinary texts is masked."""
    texts = []
    for line in DATA.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        texts += [row["question"], *row["contexts"], row["response"]]
    texts = list(dict.fromkeys(texts))
    changed = [text for text in texts if mask(text) != text]
    return f"{len(changed)} of {len(texts)} different texts, {sum(map(len, texts)):,} characters, are changed"


if __name__ == "__main__":
    main()
