"""The worst rows of a metric, with claims marked in the answer and quotes marked in the chunks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Final

from rag_otel.evaluation.directions import goodness
from rag_otel.model import ClaimVerdict, Evaluation
from rag_otel.rendering.claim_marking import Fragment, Mark, claim_marks, mark_up, quote_marks, split_by_marks
from rag_otel.rendering.text_cutting import shorten
from rag_otel_evaluators.offline.datasets import Row

WORST_ROWS: Final = 10
"""Number of rows shown per metric."""
_OPEN: Final = 3
"""How many of them are expanded initially."""
_TITLE_LENGTH: Final = 110


def worst_rows(
    rows: Sequence[Row], evaluations: Sequence[Evaluation], count: int = WORST_ROWS
) -> list[tuple[Row, Evaluation]]:
    """Returns the `count` rows with the worst scores. For equal scores, the higher risk comes first.

    `evaluations` are those of one metric, in the order of `rows`. Rows without a score are left out.
    """
    scored = [pair for pair in zip(rows, evaluations, strict=True) if pair[1].score is not None]
    return sorted(scored, key=_badness)[:count]


def _badness(pair: tuple[Row, Evaluation]) -> tuple[float, float, int]:
    row, evaluation = pair
    return goodness(evaluation.name, evaluation.score or 0.0), -(evaluation.risk or 0.0), row.number


def render_worst_rows(rows: Sequence[Row], evaluations: Sequence[Evaluation]) -> str:
    """Returns an expandable element for each of the worst rows. The first ones are expanded."""
    cards = [
        row_card(row, evaluation, is_open=position < _OPEN)
        for position, (row, evaluation) in enumerate(worst_rows(rows, evaluations))
    ]
    return "".join(cards) or "<p>No row has a score.</p>"


def marked_html(text: str, marks: Iterable[Mark]) -> str:
    """Returns `text` as HTML with marks. If marks overlap, the worst verdict is shown. Each claim's number is shown at
    its start."""
    return mark_up(split_by_marks(text, marks), opening=_opening, closing="</mark>", escape=escape)


def _opening(fragment: Fragment) -> str:
    label = f"<sup>{','.join(map(str, fragment.numbers))}</sup>" if fragment.numbers else ""
    return f'{label}<mark class="{fragment.verdict}">'


def row_card(row: Row, evaluation: Evaluation, *, is_open: bool) -> str:
    """Returns one row as an expandable element: figures, texts with marks, claims and chunks."""
    title = shorten(row.question or row.response, _TITLE_LENGTH)
    score = str(evaluation.reason_code) if evaluation.score is None else f"{evaluation.score:.3f}"
    figures = [f'<span class="score">{escape(score)}</span>']
    if evaluation.risk is not None:
        figures.append(f'<span class="risk">risk {evaluation.risk:.2f}</span>')
    if evaluation.label is not None:
        figures.append(f'<span class="label">{escape(evaluation.label)}</span>')
    body = _texts(row, evaluation) + _claims(evaluation) + _chunks(row, evaluation)
    figures.append(f'<span class="number">row {escape(row.label)}</span>')
    return (
        f'<details class="row"{" open" if is_open else ""}><summary>{"".join(figures)} '
        f'<span dir="auto">{escape(title)}</span></summary>{body}</details>'
    )


def _texts(row: Row, evaluation: Evaluation) -> str:
    """Question, answer and reference. The claims are marked in the text from which they come."""
    claims = evaluation.claims
    of_reference = _are_of(row.reference, claims) and not _are_of(row.response, claims)
    texts = [
        ("question", row.question if row.question != shorten(row.question or "", _TITLE_LENGTH) else None, ()),
        ("answer", row.response, () if of_reference else claims),
        ("reference", row.reference, claims if of_reference else ()),
    ]
    shown = [
        f'<h4>{name}</h4><p class="text" dir="auto">{marked_html(text, claim_marks(text, marked))}</p>'
        for name, text, marked in texts
        if text
    ]
    if evaluation.explanation and not claims:  # with claims, their table replaces the explanation
        shown.append(f'<h4>explanation</h4><p class="text" dir="auto">{escape(evaluation.explanation)}</p>')
    return "".join(shown)


def _are_of(text: str | None, claims: tuple[ClaimVerdict, ...]) -> bool:
    """True if every claim ends with its slice of `text`. A list's introduction may precede the slice in the claim."""
    return text is not None and all(
        each.claim.end <= len(text) and each.claim.text.endswith(text[each.claim.start : each.claim.end])
        for each in claims
    )


def _claims(evaluation: Evaluation) -> str:
    if not evaluation.claims:
        return ""
    rows = "".join(
        f'<tr><td>{number}</td><td><span class="verdict {verdict.verdict}">{_words(verdict.verdict)}</span></td>'
        f'<td class="figure">{_two_decimals(verdict.support_probability)}</td>'
        f'<td dir="auto">{escape(verdict.claim.text)}</td>'
        f'<td>{escape(", ".join(verdict.chunk_ids))}</td><td dir="auto">{escape(verdict.explanation or "")}</td></tr>'
        for number, verdict in enumerate(evaluation.claims, 1)
    )
    header = "".join(f"<th>{name}</th>" for name in ("", "verdict", "support", "claim", "chunks", "reason"))
    return (
        f'<h4>claims</h4><div class="wide"><table><thead><tr>{header}</tr></thead><tbody>{rows}</tbody></table></div>'
    )


def _chunks(row: Row, evaluation: Evaluation) -> str:
    shown = []
    for chunk in row.chunks:
        score = evaluation.chunk_scores[chunk.position] if chunk.position < len(evaluation.chunk_scores) else None
        figure = "" if score is None else f' <span class="score">{score:.2f}</span>'
        text = marked_html(chunk.text, quote_marks(chunk.id, chunk.text, evaluation.claims))
        shown.append(f'<h5>{escape(chunk.id)}{figure}</h5><p class="text chunk" dir="auto">{text}</p>')
    return f"<h4>chunks</h4>{''.join(shown)}" if shown else "<h4>chunks</h4><p>Nothing was retrieved.</p>"


def _two_decimals(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def _words(verdict: str) -> str:
    return str(verdict).replace("_", " ")
