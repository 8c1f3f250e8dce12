"""Questions, passages and answers with made-up credentials and personal data in them. Deterministic by a seed."""

from __future__ import annotations

import base64
import random
import string
from collections.abc import Callable
from dataclasses import dataclass

_WORDS = string.ascii_letters + string.digits


@dataclass(frozen=True, kw_only=True)
class PlantedCase:
    """Texts of one answer, and what must not leave."""

    question: str
    chunks: tuple[str, ...]
    response: str
    secrets: tuple[str, ...]


def planted_case(seed: int, *, secrets: int = 20) -> PlantedCase:
    """One case with so many different secrets. All stand in the chunks, half of them also in the answer, without the
    word that introduces them, and some in the question."""
    draw = random.Random(seed)
    planted = [KINDS[(seed + number) % len(KINDS)](draw) for number in range(secrets)]
    sentences = [f"{draw.choice(_OPENINGS)} {text}." for text, _ in planted]
    values = [value for _, value in planted]
    middle = len(sentences) // 2
    said = [f"The value for system {number} is {value}." for number, value in enumerate(values[::2])]
    return PlantedCase(
        question=f"What is {values[0]} for? And {values[-1]}?",
        chunks=(" ".join(sentences[:middle]), "\n".join(sentences[middle:])),
        response=" ".join(said),
        secrets=tuple(line for value in values for line in value.splitlines()),
    )


_OPENINGS = ("The manual says this.", "Staff should know:", "According to the note,", "As configured last year,")


def _token(draw: random.Random, length: int) -> str:
    return "".join(draw.choices(_WORDS, k=length - 1)) + draw.choice(string.digits)


def _secret(form: str, prefix: str = "", length: int = 24) -> Callable[[random.Random], tuple[str, str]]:
    def plant(draw: random.Random) -> tuple[str, str]:
        value = prefix + _token(draw, length)
        return form.format(value), value

    return plant


def _jwt(draw: random.Random) -> tuple[str, str]:
    parts = [base64.urlsafe_b64encode(draw.randbytes(24)).decode().rstrip("=") for _ in range(2)]
    value = f"eyJhbGciOiJIUzI1NiJ9.{parts[0]}.{parts[1]}"
    return f"it sends {value} each time", value


def _pem(draw: random.Random) -> tuple[str, str]:
    value = base64.b64encode(draw.randbytes(48)).decode()
    return f"-----BEGIN PRIVATE KEY-----\n{value}\n-----END PRIVATE KEY-----", value


def _aws(draw: random.Random) -> tuple[str, str]:
    value = "AKIA" + "".join(draw.choices(string.ascii_uppercase + string.digits, k=16))
    return f"log in with {value} there", value


def _email(draw: random.Random) -> tuple[str, str]:
    value = f"{_token(draw, 8).lower()}.{_token(draw, 5).lower()}@mail{draw.randrange(99)}.example.org"
    return f"write to {value} with questions", value


def _phone(draw: random.Random) -> tuple[str, str]:
    value = draw.choice(["+49 {0:03d} {1:07d}", "({0:03d}) 555-{2:04d}", "030 {1:07d}"]).format(
        draw.randrange(100, 999), draw.randrange(10**6, 10**7), draw.randrange(10**4)
    )
    return f"call {value} on weekdays", value


def _iban(draw: random.Random) -> tuple[str, str]:
    account = f"{draw.randrange(10**18):018d}"
    check = 98 - int(f"{account}131400") % 97
    plain = f"DE{check:02d}{account}"
    value = " ".join(plain[at : at + 4] for at in range(0, len(plain), 4)) if draw.random() < 0.5 else plain
    return f"pay to {value} within a week", value


def _card(draw: random.Random) -> tuple[str, str]:
    digits = [4, *draw.choices(range(10), k=14)]
    total = sum(digits[1::2]) + sum(sum(divmod(2 * each, 10)) for each in digits[0::2])
    plain = "".join(map(str, [*digits, -total % 10]))
    value = " ".join(plain[at : at + 4] for at in range(0, 16, 4))
    return f"the card {value} was charged", value


def _ip(draw: random.Random) -> tuple[str, str]:
    value = ".".join(str(draw.randrange(1, 255)) for _ in range(4))
    if draw.random() < 0.3:
        value = ":".join(f"{draw.randrange(0x1000, 0x10000):x}" for _ in range(8))
    return f"connect to {value} first", value


SECRETS = (
    _secret("the key is {} today", "sk-"),
    _secret("use {} in the header", "ghp_", 36),
    _aws,
    _secret("password: {}", "", 14),
    _secret('set api_key="{}" in the file', "", 32),
    _secret("send Authorization: Bearer {} along", "", 40),
    _secret("open postgres://admin:{}@db.internal/main there", "", 16),
    _secret("the bot has {} now", "xoxb-", 30),
    _jwt,
    _pem,
)
PERSONAL = (_email, _phone, _iban, _card, _ip)
KINDS = (*SECRETS, *PERSONAL)
