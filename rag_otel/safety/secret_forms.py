"""Finds credentials by their form: keys of known kinds, webhooks, passwords that a sentence gives, random runs.

Source of the forms, unless marked otherwise: the plugins of detect-secrets 1.5.0 (Yelp, Apache License 2.0,
https://github.com/Yelp/detect-secrets), written anew so that each takes time that grows with the length of the text
alone: every repetition is bounded, and none can begin inside of what another one reads. Forms marked "vendor" are those
of the vendors' documentation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

_FORMS: Final[tuple[tuple[tuple[str, ...], str], ...]] = (
    # Amazon: ids of access keys
    (("a3t", "abia", "acca", "akia", "asia"), r"(?:A3T[A-Z0-9]|ABIA|ACCA|AKIA|ASIA)[A-Z0-9]{12,100}"),
    # a kind, a sign, the key: Stripe, OpenAI, GitHub, Slack, GitLab; vendor: the others
    (
        ("sk", "pk", "rk", "whsec", "hf", "gsk", "nvapi", "tvly", "pcsk", "shp", "gh", "xox", "xapp"),
        r"(?:sk|pk|rk|whsec|hf|gsk|nvapi|tvly|pcsk|shp(?:at|ca|pa|ss)|github_pat|gh[pousr]|xox[a-z]|xapp)"
        r"[-_][\w-]{8,4000}",
    ),
    (("gl", "gr1348941"), r"(?:gl(?:pat|dt|ft|soat|rt|cbt|imt|ptt|agent|oas)-|GR1348941)[\w-]{8,1024}"),
    (
        ("npm_", "_v1_", "pul-", "dp.", "lin_", "figd_", "hvs.", "hvb.", "xkeysib-", "sntry"),
        r"(?:npm_|do[opr]_v1_|pul-|dp\.[a-z]{2,5}\.|lin_(?:api|oauth)_|figd_|hv[sb]\.|xkeysib-|sntry[su]_)[\w-]{20,1000}",
    ),
    # JSON web tokens; vendor: Google's API keys, secrets of its clients, access and refresh tokens
    (("eyj",), r"eyJ[\w-]{8,4000}(?:\.[\w-]{0,4000}){0,4}"),
    (("aiza", "gocspx-", "ya29.", "1//0"), r"(?:AIza|GOCSPX-|ya29\.|1//0)[\w-]{20,1000}"),
    # SendGrid, PyPI, Square, Mailchimp, Twilio, Telegram, Discord, Artifactory, Azure; vendor: Mailgun
    (("sg.",), r"SG\.[\w-]{10,80}\.[\w-]{10,120}"),
    (("pypi-ag",), r"pypi-Ag[\w-]{16,1000}"),
    (("sq0",), r"sq0[a-z]{3}-[\w\\-]{20,80}"),
    (("-us",), r"[0-9a-z]{32}-us\d{1,2}"),
    (("ac", "sk", "key-"), r"(?:(?:AC|SK)[a-z0-9]{32}|key-[0-9a-f]{32})(?![a-z0-9])"),
    ((":",), r"\d{8,10}:[\w-]{35}"),
    (("m", "n", "o"), r"[MNO][A-Za-z\d_-]{23,25}\.[\w-]{6}\.[\w-]{27,40}"),
    (("akc", "ap"), r"(?:AKC[A-Za-z0-9]{10,200}|AP[\dA-F][A-Za-z0-9]{8,200})"),
    (("accountkey=",), r"(?<=AccountKey=)[A-Za-z0-9+/=]{40,100}"),
)
_KEYS: Final = tuple((hints, re.compile(rf"(?<![A-Za-z0-9]){form}")) for hints, form in _FORMS)

_WEBHOOK: Final = re.compile(
    r"(?:hooks\.slack\.com/(?:services|workflows|triggers)/"
    r"|discord(?:app)?\.com/api/(?:v\d{1,2}/)?webhooks/"
    r"|\.webhook\.office\.com/|api\.telegram\.org/bot|hooks\.zapier\.com/hooks/"
    r"|api\.softlayer\.com/soap/v3(?:\.1)?/)"
    r"([^\s\"'<>)\]}|]{8,1000})",
    re.IGNORECASE,
)
"""Addresses of which the path is the secret: Slack, SoftLayer; vendor: the others."""
_WEBHOOK_HINTS: Final = ("hooks.", "webhook", "api.telegram.org", "softlayer")

_SAID: Final = re.compile(
    r"(?:(?:pass(?:word|phrase|code|wd)|passwort|kennwort|mot de passe|contrase[ñn]a|\bclave|\bpin|secret|api[ -]?key"
    r"|token)(?:e?s|n)?\b|密码|密碼|口令|パスワード|暗証番号)(?:[ \t][\w-]{1,20}){0,6}?"
    r"(?:[ \t]{0,2}[:=：]|[ \t](?:is|was|are|reads|now|ist|lautet|war|est|es)(?:[ \t](?:now|set to|jetzt|ahora))?:?"
    r"|[是为為は])[ \t]{0,2}"
    r"(?:[\"'`“„«‘]([^\s\"'`”“»’]{4,200})[\"'`”“»’]|([^\s\"'`<>,;]{4,200}))",
    re.IGNORECASE,
)
"""A sentence that gives a password: "the password for the router is ...", "Passwort lautet ...". Our own."""
_SAID_HINTS: Final = (
    *("pass", "kennwort", "contrase", "clave", "pin", "secret", "key", "token"),
    *("密码", "密碼", "口令", "パスワード", "暗証番号"),
)
_SIGNS: Final = frozenset("!@#$%^&*_+=?~|\\/")

_RUN: Final = re.compile(r"(?<![\w+/~-])[A-Za-z0-9+/_~-]{20,4000}+={0,2}")
"""Letters, digits and signs without a break, such as an AWS secret key (40 characters)."""
_LEAST_TURNS: Final = 0.2
"""Share of the places in a run at which letters and digits take turns: .4 in random small letters and digits, .3 where
there are capitals too; identifiers and dates have fewer."""
_LEAST_CHANGES: Final = 0.4
"""Share of the places in a run of small letters, capitals and digits that do not go on as words
and numbers do: .6 in random ones, .2 in `SomeNamesInCamelCase2`."""
_WORDLIKE: Final = (("a", "a"), ("A", "a"), ("0", "0"))


def key_spans(text: str) -> Iterator[tuple[int, int]]:
    """(start, end) of each key of a known form, and of the secret part of each webhook's address."""
    lower = text.lower()
    for hints, pattern in _KEYS:
        if any(hint in lower for hint in hints):
            yield from (found.span() for found in pattern.finditer(text))
    if any(hint in lower for hint in _WEBHOOK_HINTS):
        yield from (found.span(1) for found in _WEBHOOK.finditer(text))


def said_spans(text: str) -> Iterator[tuple[int, int]]:
    """(start, end) of each password that a sentence gives. "The password is required" gives none."""
    lower = text.lower()
    if not any(hint in lower for hint in _SAID_HINTS):
        return
    for found in _SAID.finditer(text):
        quoted = found[1] is not None
        start, end = found.span(1 if quoted else 2)
        value = text[start:end].rstrip(".,;:!?)。！？" if not quoted else "")
        if quoted or _is_no_word(value):
            yield start, start + len(value)


def random_spans(text: str) -> Iterator[tuple[int, int]]:
    """(start, end) of each long run of characters that looks drawn at random: a secret whose form nobody knows, and as
    well a hash or a UUID. Identifiers, paths and dates do not."""
    yield from (found.span() for found in _RUN.finditer(text) if _looks_random(found[0]))


def _is_no_word(value: str) -> bool:
    """True for what has a digit, a sign that words do not have, or a capital behind a small letter."""
    if len(value) < 4:
        return False
    if any(each.isdigit() or each in _SIGNS for each in value):
        return True
    return any(one.islower() and other.isupper() for one, other in pairwise(value))


def _looks_random(run: str) -> bool:
    kinds = ["0" if each.isdigit() else "a" if each.islower() else "A" for each in run if each.isalnum()]
    pairs = list(pairwise(kinds))
    turns = sum((one == "0") != (other == "0") for one, other in pairs)
    if turns >= _LEAST_TURNS * len(kinds):
        return True
    return {"0", "a", "A"} <= set(kinds) and sum(each not in _WORDLIKE for each in pairs) >= _LEAST_CHANGES * len(kinds)
