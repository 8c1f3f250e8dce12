"""The message of an alert, independent of any channel's format: what has to be known at once, then the details.

Every channel shows the same `AlertMessage`, so all show and hide the same content. Its texts are complete and clean;
`head` and `details` write it line by line in a channel's `Style`, cut to its `Sizes`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Final

from rag_otel.alert import Alert, AlertExample, AlertState
from rag_otel.alerts.digest import ANSWERS_TO_REVIEW
from rag_otel.alerts.messages.next_steps import next_step
from rag_otel.alerts.messages.wording import Facts, detail_facts, first_facts, score_facts, title, user_feedback
from rag_otel.model import ClaimVerdict, Verdict
from rag_otel.rendering.claim_marking import Fragment, claim_marks, join_marked, mark_up, split_by_marks
from rag_otel.rendering.text_cutting import clean, cut_around, one_line, shorten

TRACE: Final = "Trace"
CHART: Final = "Chart"
RUNBOOK: Final = "Runbook"
DETAILS: Final = "Details"
_TITLE: Final = 360
"""Characters of a title: a whole sentence, and where it is."""
_FACT: Final = 400
"""Characters of a fact's value, and of an answer on one line."""
_WORST: Final = 3
_WORST_OF_REVIEW: Final = 5
HIDDEN: Final = "The text of this answer is hidden by its privacy settings."
VERDICTS: Final = {
    Verdict.CONTRADICTED: "contradicted",
    Verdict.NOT_ENOUGH_INFO: "not supported",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """How much of each part is shown: characters of a text, numbers of claims, quotes and examples."""

    question: int = 500
    response: int = 2000
    claim: int = 300
    quote: int = 300
    claims: int = 5
    quotes: int = 2
    examples: int = 3

    def smaller(self) -> Sizes:
        """About half of each size; never less than one answer, one claim and a few words of each text."""
        return Sizes(
            question=max(40, self.question // 2),
            response=max(80, self.response // 2),
            claim=max(40, self.claim // 2),
            quote=max(40, self.quote // 2),
            claims=max(1, self.claims // 2),
            quotes=max(1, self.quotes // 2),
            examples=self.examples // 2,
        )


def _named_address(address: str, name: str) -> str:
    return f"{name}: {address}"


@dataclass(frozen=True, kw_only=True)
class Style:
    """How a channel writes. What comes from outside is cut, then escaped."""

    escape: Callable[[str], str] = str
    bold: Callable[[str], str] = str
    """Of a text that is escaped."""
    link: Callable[[str, str], str] = _named_address
    """Of an address and its name."""
    opening: str = "[["
    closing: str = "]]"
    """Around an unsupported claim."""
    length: Callable[[str], int] = len
    """Of a text that is escaped, as the channel counts."""

    def cut(self, text: str, limit: int) -> str:
        """`text`, escaped, taking at most `limit`."""
        return self.escape(shorten(text, limit, measure=lambda kept: self.length(self.escape(kept))))

    def line(self, text: str, limit: int) -> str:
        """The same on one line."""
        return self.cut(" ".join(clean(text).split()), limit)

    def marked(self, fragments: Sequence[Fragment], limit: int) -> str:
        """A response with its unsupported claims marked, taking at most `limit`, marks included."""
        return self._marked(cut_around(fragments, limit, measure=lambda kept: self.length(self._marked(kept))))

    def _marked(self, fragments: Sequence[Fragment]) -> str:
        return mark_up(fragments, opening=lambda _: self.opening, closing=self.closing, escape=self.escape)


PLAIN: Final = Style()


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """One answer: question, response, unsupported claims."""

    question: str
    """Empty where it is hidden or unknown."""
    fragments: tuple[Fragment, ...]
    """The whole response, its unsupported claims marked; empty where it is hidden."""
    claims: tuple[ClaimVerdict, ...]
    """The unsupported ones, texts clean."""
    facts: tuple[tuple[str, str], ...] = ()
    """(name, value) pairs of this answer, where the message shows several."""
    link: str | None = None

    @property
    def hidden(self) -> bool:
        return not (self.question or self.fragments or self.claims)

    @property
    def scores(self) -> str:
        """Its facts on one line."""
        return ", ".join(f"{name} {value}" for name, value in self.facts)

    @property
    def line(self) -> str:
        """The answer on one line: its scores, the question, the first unsupported claim."""
        about = one_line(self.question, 100) or (HIDDEN if self.hidden else "")
        claim = f"unsupported: {one_line(self.claims[0].claim.text, 120)}" if self.claims else ""
        return ": ".join(filter(None, (self.scores, "; ".join(filter(None, (about, claim))))))


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertMessage:
    """The content that every channel renders: first what has to be known at once, then the details."""

    title: str
    """One line: what happened and where; begins with "Resolved" when it is over."""
    facts: Facts
    """Where, since when, how bad, how often right."""
    worst: tuple[Evidence, ...]
    """The answers that are named in the head, the worst first."""
    next_step: str
    """What to do first; empty when it is over."""
    links: tuple[tuple[str, str], ...]
    """(name, address): trace, chart, runbook."""
    details: Facts
    answers: tuple[Evidence, ...]
    """With all their evidence."""


def compose_message(alert: Alert) -> AlertMessage:
    """The message of an alert. It holds no text that the alert does not hold."""
    own = _answer(alert, facts=(), link=None)
    over = alert.state is AlertState.RESOLVED  # a resolve message has no answer of its own: none is hidden
    answers = [] if alert.target is None or (over and own.hidden) else [own]
    answers += [
        _answer(
            example,
            facts=tuple(_example_facts(example, alert.metric)),
            link=example.link,
        )
        for example in alert.examples
        if example.target is None or example.target != alert.target
    ]
    links = ((TRACE, alert.link), (CHART, alert.chart), (RUNBOOK, alert.runbook))
    return AlertMessage(
        title=one_line(title(alert), _TITLE),
        facts=first_facts(alert),
        worst=tuple(answers[: _WORST_OF_REVIEW if alert.name == ANSWERS_TO_REVIEW else _WORST]),
        next_step=next_step(alert),
        links=tuple((name, address) for name, address in links if address),
        details=detail_facts(alert),
        answers=tuple(answers),
    )


def plain_text(message: AlertMessage, sizes: Sizes = Sizes()) -> str:
    """The message as plain text: for mail, pagers and chats without a format of their own."""
    return "\n".join([message.title, "", *head(message), "", f"--- {DETAILS}", *details(message, sizes)]) + "\n"


def text_within(message: AlertMessage, limit: int, sizes: Sizes = Sizes()) -> str:
    """`plain_text` of at most `limit` characters: parts are shortened before any is left out."""
    while len(text := plain_text(message, sizes)) > limit:
        if sizes == sizes.smaller():
            return shorten(text, max(0, limit))
        sizes = sizes.smaller()
    return text


def head(message: AlertMessage, style: Style = PLAIN) -> list[str]:
    """What has to be known at once, below the title; short enough for a phone's screen."""
    lines = [_fact(name[:1].upper() + name[1:], value, style) for name, value in message.facts]
    if message.worst:
        lines.append(style.bold("Worst answers:" if len(message.worst) > 1 else "Answer:"))
        for rank, each in enumerate(message.worst, 1):
            numbered = f"{rank}. " if len(message.worst) > 1 else ""
            lines.append(f"  {numbered}{style.cut(each.line, _FACT)}")
            lines += [f"     {style.link(each.link, TRACE)}"] if each.link else []
    lines += [_fact("Next", message.next_step, style)] if message.next_step else []
    return [*lines, *(style.link(address, name) for name, address in message.links)]


def details(message: AlertMessage, sizes: Sizes = Sizes(), style: Style = PLAIN) -> Iterator[str]:
    """The rest: every fact, then the answers with their evidence."""
    yield from (_fact(name, value, style) for name, value in message.details)
    for number, answer in enumerate(message.answers[: max(1, sizes.examples)], 1):
        if len(message.answers) > 1:
            yield from ("", style.bold(f"--- answer {number} of {len(message.answers)}"))
            yield from ([style.cut(answer.scores, _FACT)] if answer.facts else [])
            yield from ([style.link(answer.link, TRACE)] if answer.link else [])
        for name, text in parts(answer, sizes, style):
            first, *more = text.split("\n")
            yield from ("", f"{style.bold(name.capitalize())}\n{first}", *more)


def parts(answer: Evidence, sizes: Sizes, style: Style = PLAIN) -> Iterator[tuple[str, str]]:
    """(name, text) of an answer: question, response with its marks, unsupported claims with their nearest quotes."""
    if answer.hidden:
        yield "answer", HIDDEN
    if answer.question:
        yield "question", style.cut(answer.question, sizes.question)
    if answer.fragments:
        yield "answer", style.marked(answer.fragments, sizes.response)
    if answer.claims:
        yield "unsupported claims", "\n".join(_claims(answer.claims, sizes, style))


def _claims(claims: Sequence[ClaimVerdict], sizes: Sizes, style: Style) -> Iterator[str]:
    for number, claim in enumerate(claims[: sizes.claims], 1):
        yield f"{number}. {verdict_words(claim)}: {style.line(claim.claim.text, sizes.claim)}"
        for quote in claim.quotes[: sizes.quotes]:
            yield f'   nearest, in chunk {style.line(quote.chunk_id, 80)}: "{style.line(quote.text, sizes.quote)}"'
        if claim.explanation:
            yield f"   why: {style.line(claim.explanation, sizes.claim)}"
    if len(claims) > sizes.claims:
        yield f"and {len(claims) - sizes.claims} more"


def _fact(name: str, value: str, style: Style) -> str:
    return f"{style.bold(style.cut(f'{name}:', 100))} {style.cut(value, _FACT)}"


def verdict_words(claim: ClaimVerdict) -> str:
    """The verdict in words, with the probability of support where the judge gives one."""
    words = VERDICTS.get(claim.verdict, str(claim.verdict))
    if claim.support_probability is None:
        return words
    return f"{words} (probability of support {claim.support_probability:.2f})"


def timestamp(time_ns: int, *, timespec: str = "seconds") -> str:
    """A time in UTC in the format of ISO 8601 and RFC 3339; `timespec` as for `datetime.isoformat`."""
    return datetime.fromtimestamp(time_ns / 1e9, UTC).isoformat(timespec=timespec).replace("+00:00", "Z")


def _example_facts(example: AlertExample, metric: str) -> Iterator[tuple[str, str]]:
    yield from score_facts(example.score, example.risk, example.metric or metric)
    if said := user_feedback(example.rating):
        yield "user feedback", said


def _answer(shown: Alert | AlertExample, *, facts: tuple[tuple[str, str], ...], link: str | None) -> Evidence:
    return Evidence(
        question=clean(shown.question or "").strip(),
        fragments=_clean(_marked(shown.response or "", shown.claims)),
        claims=shown.claims,
        facts=facts,
        link=link,
    )


def _marked(response: str, claims: Sequence[ClaimVerdict]) -> tuple[Fragment, ...]:
    return join_marked(split_by_marks(response, claim_marks(response, claims)))


def _clean(fragments: Sequence[Fragment]) -> tuple[Fragment, ...]:
    """Cleaned after they were marked: claims are placed in the response as it was judged."""
    cleaned = (replace(fragment, text=clean(fragment.text)) for fragment in fragments)
    return tuple(fragment for fragment in cleaned if fragment.text)
