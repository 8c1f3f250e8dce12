"""Values become placeholders, the same value the same one, and placeholders become values again."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_otel.errors import ConfigurationError
from rag_otel.safety.masking import CLASSES, SECRETS, Placeholders, check_classes
from rag_otel.safety.redaction import MASK, credential_spans, redacted_text
from rag_otel_evaluators.prompts.library import list_prompts
from testkit.planted_secrets import KINDS, planted_case


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
    ],
)
def test_what_is_no_such_value_stays(text: str) -> None:
    """Dates, versions, prose about passwords, numbers with a wrong checksum: a judge needs them."""
    assert masked(text) == [text]


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
@settings(max_examples=50, deadline=None)
def test_masking_hides_every_planted_value_and_can_be_undone(seed: int) -> None:
    """In question, chunks and response, whatever kinds are there."""
    case = planted_case(seed, secrets=len(KINDS))
    texts = [case.question, *case.chunks, case.response]
    placeholders = learned(*texts)
    hidden = [placeholders.mask(text) for text in texts]
    assert not [secret for secret in case.secrets if secret in "\n".join(hidden)]
    assert [placeholders.restore(text) for text in hidden] == texts


@given(st.integers(0, 10**6))
@settings(max_examples=50, deadline=None)
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
