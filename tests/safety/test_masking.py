"""Values become placeholders, the same value the same one, and placeholders become values again."""

from __future__ import annotations

import base64
import random
import string
import time
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_otel.errors import ConfigurationError
from rag_otel.safety.masking import CLASSES, SECRETS, Placeholders, check_classes
from rag_otel.safety.personal_data import FINDERS
from rag_otel.safety.private_keys import private_key_lines
from rag_otel.safety.redaction import MASK, credential_spans, redacted_text
from rag_otel.safety.secret_forms import key_spans, random_spans, said_spans
from rag_otel_evaluators.prompts.library import list_prompts
from testkit.planted_secrets import KINDS, planted_case
from testkit.size import examples

LETTERS = string.ascii_letters + string.digits
HEX = "0123456789abcdef"


def _form(prefix: str, length: int, characters: str = LETTERS) -> Callable[[random.Random], str]:
    return lambda draw: prefix + "".join(draw.choices(characters, k=length))


KNOWN_FORMS: dict[str, Callable[[random.Random], str]] = {
    "Slack webhook": lambda draw: (
        f"https://hooks.slack.com/services/{_form('T', 9)(draw)}/{_form('B', 9)(draw)}/{_form('', 24)(draw)}"
    ),
    "SendGrid": lambda draw: f"SG.{_form('', 22)(draw)}.{_form('', 43)(draw)}",
    "npm": _form("npm" + "_", 36),
    "PyPI": _form("pypi-" + "AgEIcHlwaS5vcmc", 80),
    "DigitalOcean": _form("dop_" + "v1_", 64, HEX),
    "Google client": _form("GOC" + "SPX-", 28),
    "AWS secret key": _form("", 40, LETTERS + "+/"),
    "Telegram": lambda draw: f"{draw.randrange(10**8, 10**10)}:{_form('', 35, LETTERS + '_-')(draw)}",
    "Twilio": _form("S" + "K", 32, HEX),
    "Twilio account": _form("A" + "C", 32, HEX),
    "Mailchimp": lambda draw: f"{_form('', 32, HEX)(draw)}-us{draw.randrange(1, 20)}",
    "GitLab": _form("gl" + "pat-", 20),
    "Discord": lambda draw: f"{_form('M', 23)(draw)}.{_form('', 6)(draw)}.{_form('', 27)(draw)}",
    "hexadecimal key": _form("", 32, HEX),
}
HOSTILE = [
    *(
        "a1",
        "aA1",
        "M.",
        "sk-",
        "1:",
        "12345678:",
        "SG.a.",
        "-----BEGIN PRIVATE KEY-----\n",
        "-----END PRIVATE KEY-----",
        " \n",
    ),
    *(
        "password is ",
        "password a ",
        "pin: ",
        "hooks.slack.com/services/",
        "eyJ.",
        "eyJa.",
        "/a",
        "Private-Lines: 1\n",
        "A: b\n",
    ),
    *("01 ", "078-05-", "-us1", "AccountKey=", "密码是", "key-0", "1//0", "~", "a-"),
]


def masked(*texts: str, classes: tuple[str, ...] = CLASSES) -> list[str]:
    placeholders = learned(*texts, classes=classes)
    return [placeholders.mask(text) for text in texts]


def learned(*texts: str, classes: tuple[str, ...] = CLASSES) -> Placeholders:
    placeholders = Placeholders(classes)
    for text in texts:
        for _ in placeholders.learn(text):
            pass
    return placeholders


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("write to Ann.Lee@example.org.", "write to <EMAIL_1>."),
        ("call +49 30 1234567 or (555) 123-4567", "call <PHONE_1> or <PHONE_2>"),
        ("pay to DE89 3704 0044 0532 0130 00 AND WAIT", "pay to <IBAN_1> AND WAIT"),
        ("card 4111 1111 1111 1111, please", "card <CARD_1>, please"),
        ("from 192.168.0.1 and 2001:db8::8a2e:370:7334", "from <IP_1> and <IP_2>"),
        ("the key sk-abcdefgh12345678 is old", "the key <SECRET_1> is old"),
        ("password: hunter2x", "password: <SECRET_1>"),
        ("postgres://ann:s3cret99@db/main", "postgres://<SECRET_1>@db/main"),
        ("rufen Sie 01 23 45 67 89 oder 06.12.34.56.78", "rufen Sie <PHONE_1> oder <PHONE_2>"),
        ("his number is 078-05-1120.", "his number is <SSN_1>."),
        (
            "The password for the router in the hall is tr0ub4dor.",
            "The password for the router in the hall is <SECRET_1>.",
        ),
        ("Das Passwort lautet Sommer2024!", "Das Passwort lautet <SECRET_1>!"),
        ("Le mot de passe est 4zerty_uiop, non ?", "Le mot de passe est <SECRET_1>, non ?"),
        ("密码是Ye5gfqiCWP", "密码是<SECRET_1>"),
        ('the passphrase is "correct"', 'the passphrase is "<SECRET_1>"'),
    ],
)
def test_values_of_every_class_are_replaced(text: str, expected: str) -> None:
    """With the words around them left as they are."""
    assert masked(text) == [expected]


@pytest.mark.parametrize(
    "text",
    [
        "It opened on 31.03.1889 at 12:30:45 and is 330 m tall; version 1.2.3, 0.123456 of 1,234,567.",
        "Your password: must be changed. A token: a word. Key: see page 12.",
        "IBAN DE89 3704 0044 0532 0130 01 and card 4111 1111 1111 1112 have wrong checksums.",
        "The ratio is 1:2, the years are 1990-2003 and 2001-02-03, ISBN 978-3-16-148410-0.",
        "IP 999.1.1.1 and @home and a@b",
        "The password is required. Your password is case-sensitive, the token is invalid, the secret is out.",
        "Of 666-12-3456, 912-12-3456, 123-00-4567 and 123-45-0000 none was ever given out.",
        "See state-of-the-art-2-part and SomeIdentifierInCamelCaseOfVersion2 in docs/getting_started/page_2_of_3.html",
    ],
)
def test_what_is_no_such_value_stays(text: str) -> None:
    """Dates, versions, prose about passwords, numbers with a wrong checksum: a judge needs them."""
    assert masked(text) == [text]


@pytest.mark.parametrize("kind", sorted(KNOWN_FORMS))
def test_secrets_of_known_forms_are_masked_where_nothing_introduces_them(kind: str) -> None:
    """Built here of parts: no text of the repository looks like a key. Of those that only look random, one in 200
    has too few digits for that."""
    draw, missed = random.Random(kind), 0
    for _ in range(200):
        value = KNOWN_FORMS[kind](draw)
        for text in (f"The value is {value}, they say.", f'{{"x": "{value}"}}', f"{value}\nis it"):
            (hidden,) = masked(text, classes=(SECRETS,))
            missed += value[-12:] in hidden
    assert missed <= (3 * 3 if kind in ("AWS secret key", "hexadecimal key") else 0)


@pytest.mark.parametrize("escaped", [False, True])
@pytest.mark.parametrize("cut", ["whole", "without its end", "without its beginning", "its middle"])
@pytest.mark.parametrize("kind", ["RSA PRIVATE KEY", "PGP PRIVATE KEY BLOCK", "OPENSSH PRIVATE KEY", "PRIVATE KEY"])
def test_private_keys_are_masked_where_a_chunk_cuts_them(kind: str, cut: str, escaped: bool) -> None:
    """Line by line, and the words before and behind stay."""
    encoded = base64.b64encode(random.Random(kind).randbytes(420)).decode()
    lines = [encoded[at : at + 64] for at in range(0, len(encoded), 64)]
    headers = ["Version: GnuPG v2", "Comment: made for Ann", ""] if "PGP" in kind else []
    whole = [f"-----BEGIN {kind}-----", *headers, *lines, f"-----END {kind}-----"]
    parts = {
        "whole": whole,
        "without its end": whole[: len(headers) + 4],
        "without its beginning": whole[-4:],
        "its middle": lines[2:5],
    }[cut]
    newline = "\\n" if escaped else "\n"
    (hidden,) = masked(f"This is it: {newline.join(parts)}{newline}Keep it safe.", classes=(SECRETS,))
    assert not [line for line in lines if line in hidden]
    assert hidden.startswith("This is it: ")
    assert hidden.endswith("Keep it safe.")


@pytest.mark.parametrize("piece", HOSTILE)
def test_finding_takes_time_that_grows_with_the_length(piece: str) -> None:
    """Twice the text takes no more than four times as long, also for texts made to be slow."""

    def seconds(count: int) -> float:
        text = (piece * count)[:count]
        took = []
        for _ in range(3):
            started = time.thread_time()
            for find in (key_spans, said_spans, random_spans, *FINDERS.values()):
                list(find(text))
            list(private_key_lines(text))
            took.append(time.thread_time() - started)
        return min(took)

    assert seconds(40_000) <= 4 * seconds(20_000) + 0.02


def test_built_in_prompts_are_left_as_they_are() -> None:
    """Otherwise masking would change what the judge is asked."""
    for prompt in list_prompts():
        texts = [message.content for message in prompt.messages({"question": "-"})]
        assert masked(*texts) == texts


def test_one_value_has_one_placeholder_in_all_texts() -> None:
    """Also where nothing introduces it, and in another spelling."""
    texts = (
        "password: Tr0ub4dor",
        "He said that Tr0ub4dor works. Write ANN@example.org",
        "ann@example.org, +49 30 1234567",
    )
    assert masked(*texts) == [
        "password: <SECRET_1>",
        "He said that <SECRET_1> works. Write <EMAIL_1>",
        "<EMAIL_1>, <PHONE_1>",
    ]
    assert masked("call +49 30 1234567", "+49301234567!") == ["call <PHONE_1>", "<PHONE_1>!"]


def test_a_text_may_hold_placeholders_of_its_own() -> None:
    """They are not taken for ours, on the way there or back."""
    placeholders = learned("<EMAIL_1> stands for ann@example.org")
    assert placeholders.mask("ann@example.org") == "<EMAIL_2>"
    assert placeholders.restore("<EMAIL_1> and <EMAIL_2>") == "<EMAIL_1> and ann@example.org"


def test_numbers_of_chunks_stay() -> None:
    """A prompt has them right behind words such as "password:"."""
    text = "[c0.s0] The password:\n[c0.s1] Tr0ub4dor is it\n[12] token: 7"
    assert masked(text) == [text.replace("Tr0ub4dor", "<SECRET_1>")] or masked(text) == [text]
    assert "[c0.s1]" in masked(text)[0]


@given(st.integers(0, 10**6))
@settings(max_examples=examples(50), deadline=None)
def test_masking_hides_every_planted_value_and_can_be_undone(seed: int) -> None:
    """In question, chunks and response, whatever kinds are there."""
    case = planted_case(seed, secrets=len(KINDS))
    texts = [case.question, *case.chunks, case.response]
    placeholders = learned(*texts)
    hidden = [placeholders.mask(text) for text in texts]
    assert not [secret for secret in case.secrets if secret in "\n".join(hidden)]
    assert [placeholders.restore(text) for text in hidden] == texts


@given(st.integers(0, 10**6))
@settings(max_examples=examples(50), deadline=None)
def test_spans_of_credentials_are_what_redaction_masks(seed: int) -> None:
    """The search for words that come first leaves out no pattern."""
    for text in planted_case(seed, secrets=len(KINDS)).chunks:
        assert bool(list(credential_spans(text))) == (MASK in redacted_text(text))


def test_classes_are_checked() -> None:
    """A typing slip must not leave a class unmasked."""
    assert check_classes(["none"]) == ()
    assert check_classes(["Email", SECRETS]) == ("email", SECRETS)
    with pytest.raises(ConfigurationError, match="unknown mail; there are: secrets, email"):
        check_classes(["mail"])
