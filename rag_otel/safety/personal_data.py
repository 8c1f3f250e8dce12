"""Finds personal data by its form: e-mail addresses, phone and social security numbers, IBANs, cards, IP addresses.

What has a checksum is checked: IBAN (ISO 13616, remainder by 97) and card numbers (Luhn, ISO/IEC 7812). Names and
postal addresses have no form; finding them needs a model. Every pattern takes time that grows with the length alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

Span = tuple[int, int]

_EMAIL: Final = re.compile(r"(?<![\w.%+-])[\w.%+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}")
_IBAN: Final = re.compile(r"(?<![A-Za-z0-9])[A-Z]{2}\d{2}(?:[ -]?[A-Z0-9]){11,30}", re.IGNORECASE)
_CARD: Final = re.compile(r"(?<![\d.])\d(?:[ -]?\d){12,18}(?!\d)")
_IP4: Final = re.compile(r"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?!\w|\.\d)")
_IP6: Final = re.compile(r"(?<![\w:.])[0-9A-Fa-f]{0,4}(?::[0-9A-Fa-f]{0,4}){2,7}(?![\w:])")
_PHONE: Final = re.compile(
    r"(?<![\w+@./:=-])(?<!\d )(?:"
    r"(?:\+|00)[ (]{0,2}\d[\d ()./-]{5,20}\d"  # +49 30 1234567
    r"|(?:1[-. ])?\(\d{2,5}\)[ -]?\d{2,4}[ -]?\d{2,5}(?:[ -]\d{2,4})?"  # (555) 123-4567
    r"|(?:1[-. ])?\d{3}[-. ]\d{3}[-. ]\d{4}"  # 555-123-4567
    r"|0[1-9](?:[ .-]?\d{2}){4}(?!\d)"  # 01 23 45 67 89
    r"|0\d{1,4}[ /-]\d{3}[\d /-]{1,9}\d"  # 030 1234567
    r")(?![\w-])"
)
_SSN: Final = re.compile(r"(?<![\w-])(?!000|666|9)\d{3}([- ])(?!00)\d{2}\1(?!0000)\d{4}(?![\w-])")
"""A US social security number, without those that are never given out (Social Security Administration, "Social Security
Number Randomization")."""
_PHONE_DIGITS: Final = range(7, 16)
"""Digits of a phone number, with the country's code (ITU-T E.164: 15 at most)."""


def emails(text: str) -> Iterator[Span]:
    """(start, end) of each e-mail address."""
    if "@" in text:
        yield from (found.span() for found in _EMAIL.finditer(text))


def ibans(text: str) -> Iterator[Span]:
    """(start, end) of each IBAN with a right checksum. Words in capitals that follow it are left out."""
    for found in _IBAN.finditer(text):
        candidate = found[0]
        while len(candidate) >= 15:
            if _is_iban(candidate):
                yield found.start(), found.start() + len(candidate)
                break
            candidate = candidate[:-1].rstrip(" -")


def _is_iban(text: str) -> bool:
    code = text.replace(" ", "").replace("-", "").upper()
    return int("".join(str(int(each, 36)) for each in code[4:] + code[:4])) % 97 == 1


def cards(text: str) -> Iterator[Span]:
    """(start, end) of each card number with a right checksum."""
    for found in _CARD.finditer(text):
        digits = [int(each) for each in found[0] if each.isdigit()][::-1]
        total = sum(digits[0::2]) + sum(sum(divmod(2 * each, 10)) for each in digits[1::2])
        if total % 10 == 0 and len(set(digits)) > 1:
            yield found.span()


def ip_addresses(text: str) -> Iterator[Span]:
    """(start, end) of each IPv4 and IPv6 address."""
    for found in _IP4.finditer(text):
        if all(int(part) <= 255 for part in found[0].split(".")):
            yield found.span()
    if "::" in text or text.count(":") >= 7:
        for found in _IP6.finditer(text):
            groups = found[0].split(":")
            shortened = "::" in found[0]
            if any(groups) and (shortened or (len(groups) == 8 and all(groups))):
                yield found.span()


def phones(text: str) -> Iterator[Span]:
    """(start, end) of each phone number: with `+` or `00`, an area code in brackets or with 0, 01 23 45 67 89, or
    as 555-123-4567."""
    for found in _PHONE.finditer(text):
        digits = sum(each.isdigit() for each in found[0])
        if digits in _PHONE_DIGITS:
            yield found.span()


def social_security_numbers(text: str) -> Iterator[Span]:
    """(start, end) of each US social security number: 078-05-1120, with hyphens or spaces."""
    yield from (found.span() for found in _SSN.finditer(text))


FINDERS: Final[dict[str, Callable[[str], Iterator[Span]]]] = {
    "email": emails,
    "iban": ibans,
    "card": cards,
    "ip": ip_addresses,
    "ssn": social_security_numbers,
    "phone": phones,
}
"""By class, in the order in which they are asked: a card number must not be taken for a phone number."""
