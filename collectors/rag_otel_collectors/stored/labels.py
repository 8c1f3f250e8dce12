"""Reads people's labels of answers that a judge has scored: from Phoenix's annotations, or from a file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from rag_otel import semconv
from rag_otel.errors import InputError
from rag_otel.evaluation.calibration import Labelled
from rag_otel.formats.rows import placed_rows
from rag_otel.ratings.rating import USER_FEEDBACK
from rag_otel.ratings.words import COMPLAINT_BELOW, rating_of, share
from rag_otel_collectors.stored.annotated_spans import AnnotatedSpan, HumanAnnotation, annotated_spans
from rag_otel_collectors.stored.project import StoredProject
from rag_otel_collectors.stored.results import StoredResult, other_results
from rag_otel_collectors.stored.review_queue import picked_with

LABELS: Final = f"label,{USER_FEEDBACK}"
"""Names of people's annotations: what reviewers say comes before what users say."""


def names_in(text: str) -> tuple[str, ...]:
    """The names in a comma-separated list."""
    return tuple(name.strip() for name in text.split(",") if name.strip())


def says_bad(label: Any, *, bad_values: Sequence[str] = ()) -> bool | None:
    """Whether a label calls an answer unfaithful; None for a label that says neither.

    With `bad_values` these values are bad and all others good. Without, common words are understood, and a number or a
    truth value is a score: below 0.5 is bad.
    """
    if label is None or label == "":
        return None
    if bad_values:
        return str(label).strip().lower() in {value.strip().lower() for value in bad_values}
    rating = rating_of(label)
    return None if rating is None else rating < COMPLAINT_BELOW


def labels_in_file(
    path: str, *, metric: str, label: str, slices: Sequence[str] = (), bad_values: Sequence[str] = ()
) -> Iterator[Labelled]:
    """Rows as `rag-otel evaluate` writes them, with one more column `label`; or rows with `risk` and `label`.

    A row without a label or without a score is passed over. Raises InputError that names the file and the line of a
    label that says neither good nor bad.
    """
    for place, row in placed_rows(path, "expected rows: CSV, or one JSON object on each line"):
        if not isinstance(row, Mapping):
            raise InputError(f"{place}: expected an object, not {type(row).__name__}")
        if label not in row:
            raise InputError(f"{place}: no column {label!r}; name the column of the labels with --label")
        if row[label] in (None, ""):
            continue
        bad = says_bad(row[label], bad_values=bad_values)
        if bad is None:
            raise InputError(
                f"{place}: {label} = {row[label]!r} says neither good nor bad; name the bad values with --bad"
            )
        detail = row.get(f"{metric}_detail")
        fields = detail if isinstance(detail, Mapping) else row
        judged = StoredResult(risk=share(fields.get("risk")), score=share(fields.get("score", row.get(metric))))
        risk = judged.judged_risk
        if risk is not None:
            yield Labelled(
                risk=risk,
                bad=bad,
                judge=str(fields.get("answered_by") or fields.get("judge") or ""),
                version=str(fields.get("version") or ""),
                weight=_weight(row.get("probability") or row.get("sampling_probability")),
                slices=tuple(f"{name}={row[name]}" for name in slices if row.get(name) not in (None, "")),
                question=_question(row.get("question")),
            )


def labels_in_phoenix(
    project: StoredProject,
    *,
    metric: str,
    annotations: Sequence[str],
    against: str | None = None,
    other: str | None = None,
    slices: Sequence[str] = (),
) -> Iterator[Labelled]:
    """Answers of a project with both a result of rag-otel and an annotation of a person, on the span or on the root or
    the whole of its trace. Of several names the first counts that says something. The label decides, else the score
    (below 0.5 is bad). Raises the errors of the client.

    Where rated answers were evaluated because they were rated (`rag-otel labels feedback`), every rated answer has a
    result: a user's rating then counts once, whatever the sampler did.

    With `against`, another judge's annotations of this name take the place of people's; with `other`, those of this
    name take the place of rag-otel's results.
    """
    labelled = [
        (found, bad, whose)
        for found in annotated_spans(project, metric, other=other)
        for bad, whose in _words(found, annotations, against)
    ]
    all_rated = any(found.result.rated for found, _, _ in labelled)
    for found, bad, whose in labelled:
        risk = found.result.judged_risk
        if risk is None:
            continue
        attributes, picked = found.span.attributes, picked_with(found.rows)
        once = all_rated and picked is None
        if against is not None:
            if not found.result.in_sample:
                continue  # people chose it, and no judge is asked about people here
            picked, once = None, False
        yield Labelled(
            risk=risk,
            bad=bad,
            judge=f"{found.result.judge}{f', against {whose}' if whose else ''}",
            version=found.result.version,
            weight=(1.0 if once else _weight(found.result.probability)) * _weight(picked),
            slices=tuple(f"{name}={attributes[name]}" for name in slices if name in attributes),
            question=_question(attributes.get(semconv.INPUT_VALUE)),
        )


def _question(text: Any) -> str | None:
    return " ".join(text.split()) or None if isinstance(text, str) else None


def _words(found: AnnotatedSpan, names: Sequence[str], against: str | None) -> Iterator[tuple[bool, str]]:
    """Whether the answer is bad, and who says so (empty: people)."""
    if against is None:
        bad = _peoples_word(found.human, names)
        if bad is not None:
            yield bad, ""
        return
    for each in other_results(found.about, against):
        if each.bad is not None and each.judge != found.result.judge:
            yield each.bad, each.judge


def _peoples_word(human: Sequence[HumanAnnotation], names: Sequence[str]) -> bool | None:
    for name in names:
        for each in (said for said in human if said.name == name):
            bad = says_bad(each.label)
            bad = says_bad(each.score) if bad is None else bad
            if bad is not None:
                return bad
    return None


def _weight(probability: Any) -> float:
    known = isinstance(probability, int | float) and not isinstance(probability, bool) and 0.0 < probability <= 1.0
    return 1.0 / float(probability) if known else 1.0
