"""Alerts by mail, through a real mail server."""

from __future__ import annotations

import html as html_library
import socket
import ssl
from pathlib import Path

import pytest
from hypothesis import given, settings

from rag_otel.alert import Alert, AlertSeverity
from rag_otel.alerts.channels.mail import MailChannel, html, mail
from rag_otel.alerts.channels.mail_server import MailServer
from rag_otel.alerts.messages.rendering import compose_message
from rag_otel.errors import ConfigurationError, PermanentError, RetryableError
from rag_otel.safety.guard import counters
from testkit.size import examples
from tests.alerts.alert_builders import (
    LINK,
    MARKED,
    a_hidden_alert,
    a_long_alert,
    a_statistical_alert,
    an_alert,
    any_alert,
    resolved,
)
from tests.alerts.mail_receiver import PASSWORD, USER, MailReceiver, Security, a_certificate, mail_receiver
from tests.support.results import QUESTION, SECRET_TEXTS

# The test's server calls a login on a connection that is encrypted from the start one without TLS.
pytestmark = pytest.mark.filterwarnings("ignore:Requiring AUTH while not requiring TLS")
SENDER, RECIPIENTS = "RAG alerts <alerts@example.com>", ("a@example.com", "Bea <b@example.com>")


@pytest.fixture
def certificate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ssl.SSLContext:
    """What the server shows; this process trusts it."""
    context, pem = a_certificate(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(pem))
    return context


def channel(receiver: MailReceiver, *, scheme: str = "smtp") -> MailChannel:
    """A channel that mails through this server."""
    server = MailServer(f"{scheme}://127.0.0.1:{receiver.port}")
    return MailChannel(server, sender=SENDER, recipients=RECIPIENTS)


def test_a_mail_has_a_part_to_read_and_one_to_look_at() -> None:
    """Everybody gets it; text and HTML both show the answer with its marks, the quotes and the link."""
    with mail_receiver() as receiver:
        channel(receiver).send(an_alert(severity=AlertSeverity.CRITICAL))
    (received,), (to,) = receiver.mails, receiver.recipients
    assert to == ["a@example.com", "b@example.com"]
    assert received["Subject"] == "[rag-otel] CRITICAL: Unfaithful answer in observatory answer"
    assert (received["From"], received["To"]) == (SENDER, "a@example.com, Bea <b@example.com>")
    text = received.get_body(("plain",))
    page = received.get_body(("html",))
    assert text is not None
    assert page is not None
    for part in (QUESTION, MARKED, "hallucination risk 0.93", "chunk moon-1", LINK):
        assert part in text.get_content()
    assert f'<a href="{LINK}">' in page.get_content()
    assert page.get_content().count("<mark ") == 2
    assert ">It is made of cheese.</mark>" in page.get_content()


def test_mails_of_one_problem_are_one_thread_and_a_retried_mail_is_the_same() -> None:
    """By its headers: Message-ID of the message, References of the problem, one list."""
    alert = an_alert()
    first, again, end, other = (
        mail(each, sender=SENDER, recipients=RECIPIENTS)
        for each in (alert, alert, resolved(alert), an_alert(fingerprint="another"))
    )
    assert first["Message-ID"] == again["Message-ID"] != end["Message-ID"]
    assert first["References"] == end["References"] != other["References"]
    assert first["List-Id"] == other["List-Id"] == "rag-otel alerts <alerts.rag-otel.example.com>"
    assert first["Auto-Submitted"] == "auto-generated"
    assert end["Subject"] == "[rag-otel] Resolved: Unfaithful answer in observatory answer"
    assert (end["X-Rag-Otel-State"], end["X-Rag-Otel-Severity"]) == ("resolved", "warning")


@pytest.mark.parametrize(("security", "scheme"), [("starttls", "smtp"), ("tls", "smtps")])
def test_a_mail_travels_encrypted_after_a_login(security: Security, scheme: str, certificate: ssl.SSLContext) -> None:
    """With STARTTLS or TLS, by the system's own certificates."""
    with mail_receiver(security=security, login=True, certificate=certificate) as receiver:
        asked = "?starttls=required" if scheme == "smtp" else ""
        server = MailServer(f"{scheme}://{USER}@127.0.0.1:{receiver.port}{asked}", password=PASSWORD)
        MailChannel(server, sender=SENDER, recipients=RECIPIENTS).send(an_alert())
    assert (receiver.encrypted, receiver.logged_in) == ([True], [True])


def test_a_server_that_nobody_vouches_for_gets_no_mail(tmp_path: Path) -> None:
    """An unknown certificate: nothing is sent, no password shown."""
    context, _ = a_certificate(tmp_path)
    with (
        mail_receiver(security="tls", certificate=context) as receiver,
        pytest.raises(RetryableError, match="CERTIFICATE_VERIFY_FAILED"),
    ):
        channel(receiver, scheme="smtps").send(an_alert())
    assert not receiver.mails


def test_a_server_without_starttls_gets_no_mail_where_that_is_required() -> None:
    """Rather no mail than one that everybody on the way can read."""
    with mail_receiver() as receiver:
        server = MailServer(f"smtp://127.0.0.1:{receiver.port}?starttls=required")
        with pytest.raises(PermanentError, match="STARTTLS"):
            MailChannel(server, sender=SENDER, recipients=RECIPIENTS).send(an_alert())
    assert not receiver.mails


def test_a_wrong_password_is_final_and_shown_nowhere(certificate: ssl.SSLContext) -> None:
    """Neither in the error nor in the server's repr."""
    with mail_receiver(security="tls", login=True, certificate=certificate) as receiver:
        server = MailServer(f"smtps://{USER}@127.0.0.1:{receiver.port}", password="wr0ng-password")
        with pytest.raises(PermanentError, match="535") as refused:
            MailChannel(server, sender=SENDER, recipients=RECIPIENTS).send(an_alert())
    assert "wr0ng" not in f"{refused.value!r} {server!r}"


@pytest.mark.parametrize(
    ("answer", "error"), [("451 try later", RetryableError), ("554 looks like spam", PermanentError)]
)
def test_a_refused_mail_is_tried_again_where_the_server_says_so(answer: str, error: type[Exception]) -> None:
    """4xx may pass, 5xx will not."""
    with mail_receiver() as receiver:
        receiver.answers.append(answer)
        with pytest.raises(error, match=answer[:3]):
            channel(receiver).send(an_alert())
        channel(receiver).send(an_alert())
    assert len(receiver.mails) == 1


def test_one_recipient_who_is_refused_does_not_keep_the_others_from_their_mail() -> None:
    """Counted; a retry would mail the others twice. All refused is a failure."""
    before = counters.get("alerts.mail.recipients_refused")
    with mail_receiver() as receiver:
        receiver.refused["a@example.com"] = "550 who is that"
        channel(receiver).send(an_alert())
        assert receiver.recipients == [["b@example.com"]]
        assert counters.get("alerts.mail.recipients_refused") == before + 1
        receiver.refused["b@example.com"] = "450 mailbox full"
        with pytest.raises(PermanentError, match="550 who is that"):
            channel(receiver).send(an_alert())
        receiver.refused["a@example.com"] = "450 mailbox full"
        with pytest.raises(RetryableError, match="450"):
            channel(receiver).send(an_alert())


def test_a_server_that_is_down_is_tried_again() -> None:
    """The error names it."""
    with mail_receiver() as receiver:
        gone = channel(receiver)
    with pytest.raises(RetryableError, match=rf"127\.0\.0\.1:{receiver.port}"):
        gone.send(an_alert())


def test_a_server_that_does_not_answer_is_not_waited_for_for_ever() -> None:
    """Another try comes later."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        server = MailServer(f"smtp://127.0.0.1:{silent.getsockname()[1]}", timeout_s=0.2)
        with pytest.raises(RetryableError, match="timed out"):
            MailChannel(server, sender=SENDER, recipients=RECIPIENTS).send(an_alert())


@settings(max_examples=examples(40), deadline=None)
@given(any_alert())
def test_any_alert_is_a_mail(alert: Alert) -> None:
    """No text can break a header, leave the part that it is in, or be a tag."""
    made = mail(alert, sender=SENDER, recipients=RECIPIENTS)
    assert made.as_bytes()
    assert len(made["Subject"]) <= 200
    assert "<script" not in html(compose_message(alert)).lower()


def test_what_a_model_wrote_is_text_in_the_page() -> None:
    """No tag, no script, no link but ours."""
    attack = "<script>alert(1)</script><img src=x>"
    page = html(compose_message(an_alert(question=attack, response=attack, claims=(), service=attack, headline=attack)))
    assert "<script" not in page
    assert "<img" not in page
    assert html_library.escape(attack) in page
    assert "href" not in html(compose_message(an_alert(link="javascript:alert(1)")))


def test_a_long_answer_is_cut_around_its_claim_and_hidden_text_stays_hidden() -> None:
    """A mail of some dozen kilobytes, and not a word of what must not be told."""
    long = mail(a_long_alert(3000), sender=SENDER, recipients=RECIPIENTS).as_bytes()
    assert len(long) < 200_000
    assert "made of cheese &amp; wine.</mark>" in html(compose_message(a_long_alert(3000)))
    hidden = html(compose_message(a_hidden_alert()))
    assert not [secret for secret in SECRET_TEXTS if secret in hidden]
    assert "faithfulness of observatory fell" in html(compose_message(a_statistical_alert()))


@pytest.mark.parametrize(
    ("url", "password", "wrong"),
    [
        ("mail.example.com:25", None, "smtp://host:587"),
        ("http://mail.example.com", None, "smtp://host:587"),
        ("smtp://", None, "smtp://host:587"),
        ("smtp://mail.example.com:many", None, "no number"),
        ("smtp://u:s3cret@mail.example.com", None, "alert_smtp_password"),
        ("smtp://mail.example.com", "s3cret", "no user"),
        ("smtp://u@mail.example.com?starttls=off", "s3cret", "plain text"),
        ("smtp://mail.example.com?starttls=maybe", None, "starttls"),
    ],
)
def test_an_address_that_cannot_work_is_refused_at_start_up(url: str, password: str | None, wrong: str) -> None:
    """With the way out, and without the secret."""
    with pytest.raises(ConfigurationError, match=wrong) as refused:
        MailServer(url, password=password)
    assert "alert_smtp_url" in str(refused.value)
    assert "s3cret" not in str(refused.value)


@pytest.mark.parametrize("address", ["", "nobody", "a@", "@b", "a b@c", "a@b.c\nBcc: d@e.f"])
def test_what_is_no_address_is_refused_at_start_up(address: str) -> None:
    """By the name of the setting."""
    server = MailServer("smtp://localhost")
    with pytest.raises(ConfigurationError, match="alert_email_to"):
        MailChannel(server, sender=SENDER, recipients=[address])
    with pytest.raises(ConfigurationError, match="alert_email_from"):
        MailChannel(server, sender=address, recipients=RECIPIENTS)
