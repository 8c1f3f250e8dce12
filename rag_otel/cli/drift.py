"""`rag-otel drift`: shows the saved state of drift monitoring, or replays scores from files or Phoenix."""

from __future__ import annotations

import argparse
import dataclasses
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Final

from rag_otel.cli.drift_report.page import latest, render_page
from rag_otel.cli.drift_report.view import SeriesView, WorstAnswer, replay, views, worst_answers
from rag_otel.cli.options import json_option, phoenix_options, settings_of
from rag_otel.cli.phoenix_project import phoenix_project
from rag_otel.cli.terminal import CommandResult, table, write_file
from rag_otel.drift.alerting import describe, moment
from rag_otel.drift.event import DriftEvent
from rag_otel.drift.memory import ask_to_relearn, judge_lines, read_memories
from rag_otel.drift.observation import ALL, Observation, shown
from rag_otel.drift.sentence import sentence
from rag_otel.drift.setup import drift_settings
from rag_otel.errors import ConfigurationError, InputError
from rag_otel.settings import Settings
from rag_otel.writers.phoenix_links import phoenix_page, trace_link
from rag_otel_collectors.stored.scores import JUDGE, from_files, from_other_judge, from_phoenix, metrics_of

_EVENTS: Final = 12
_OVERRIDES: Final = ("drift_baseline", "drift_baseline_count", "state_folder")


@dataclasses.dataclass(frozen=True, kw_only=True)
class ReportedSeries:
    """The series of a replay, or of one saved state."""

    heading: str
    views: Sequence[SeriesView]
    events: Sequence[DriftEvent]
    worst: Mapping[tuple[str, str], Sequence[WorstAnswer]] = dataclasses.field(default_factory=dict)
    """By series and slice."""
    link: Callable[[str], str] | None = None
    """Address of a trace by its id."""
    judge: Sequence[str] = ()
    """What is known of the judge, as lines."""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", nargs="*", metavar="FILE", help="scores to replay: JSON Lines, or OTLP/JSON")
    parser.add_argument(
        "--annotation", metavar="NAME", help="with --project: other judges' annotations of this name, not rag-otel's"
    )
    parser.add_argument("--state", dest="state_folder", metavar="DIR", help="the state folder of the application")
    parser.add_argument("--html", type=Path, metavar="FILE", help="write a page: series, interval, baseline, alarms")
    parser.add_argument("--all", action="store_true", help="print every slice, not only all traffic and alarms")
    parser.add_argument("--baseline", dest="drift_baseline", metavar="MEAN|FILE", help="the baseline of a replay")
    parser.add_argument(
        "--baseline-count", dest="drift_baseline_count", type=int, metavar="N", help="learn the baseline from N scores"
    )
    parser.add_argument("--save-baselines", type=Path, metavar="FILE", help="write a file for `drift_baseline`")
    parser.add_argument(
        "--relearn", action="store_true", help="accept the current scores as normal: learn new baselines"
    )
    json_option(parser, "every event, a line each,")
    phoenix_options(parser)


def run(arguments: argparse.Namespace) -> CommandResult:
    """Exit code 1 while a series is in alarm. Raises ConfigurationError, InputError and the errors of Phoenix's
    client."""
    settings = settings_of(arguments, **{name: getattr(arguments, name) for name in _OVERRIDES})
    if arguments.relearn:
        asked = ask_to_relearn(_folder(settings))
        told = "states will learn new baselines; a running process starts within a minute of its next result"
        return CommandResult(text=f"{asked} {told}", data=[], one_per_line=True)
    replays = arguments.files or arguments.project
    found = [_replayed(settings, arguments)] if replays else _saved(settings)
    lines = [line for each in found for line in _lines(each, every_slice=arguments.all)]
    if arguments.html is not None or arguments.save_baselines is not None:
        lines += _written(found, arguments)
    return CommandResult(
        text="\n".join(lines),
        data=[event_record(event) for each in found for event in each.events],
        one_per_line=True,
        code=1 if any(view.firing for each in found for view in each.views) else 0,
    )


def _replayed(settings: Settings, arguments: argparse.Namespace) -> ReportedSeries:
    observations = _observations(settings, arguments)
    if not observations:
        raise InputError("found no scores to replay")
    own = dataclasses.replace(drift_settings(settings), metrics=metrics_of(observations))
    if arguments.annotation:
        own = dataclasses.replace(own, dimensions=(*own.dimensions, JUDGE))
    replayed = replay(observations, own)
    shown = views(replayed.family, replayed.events, replayed.timelines)
    page = phoenix_page(settings) if arguments.project else None
    return ReportedSeries(
        heading=f"Replay of {', '.join(arguments.files) or arguments.project}: {len(observations):,} evaluations",
        views=shown,
        events=replayed.events,
        worst={(view.series, view.slice): worst_answers(observations, view) for view in shown if view.firing},
        link=None if page is None else partial(trace_link, page),
    )


def _observations(settings: Settings, arguments: argparse.Namespace) -> list[Observation]:
    if arguments.files and arguments.project:
        raise ConfigurationError("give either files or --project NAME, not both")
    if arguments.files:
        if arguments.annotation:
            raise ConfigurationError("--annotation is for a Phoenix project: give --project NAME, not files")
        return from_files(arguments.files, settings.drift.slices)
    project = phoenix_project(arguments, settings)
    if arguments.annotation:
        return list(from_other_judge(project, settings.drift.slices, arguments.annotation))
    return list(from_phoenix(project, settings.drift.slices))


def _saved(settings: Settings) -> list[ReportedSeries]:
    """Each state of the folder: processes that do not share one have their own."""
    stored = read_memories(_folder(settings), drift_settings(settings))
    if not stored:
        raise InputError(f"{settings.state_folder}: no drift state; it is saved half a minute after the first results")
    return [
        ReportedSeries(
            heading=f"Drift, {each.part}, saved {moment(each.memory.saved_s)}",
            views=views(each.memory.family, each.memory.events),
            events=each.memory.events,
            judge=judge_lines(each.memory.readings),
        )
        for each in stored
    ]


def _folder(settings: Settings) -> Path:
    if settings.state_folder is None:
        raise ConfigurationError(
            "nothing to show: give FILEs, --project NAME, or --state DIR (environment: RAG_OTEL_STATE_FOLDER)"
        )
    return Path(settings.state_folder)


def _lines(found: ReportedSeries, *, every_slice: bool) -> Iterator[str]:
    yield found.heading
    listed = [view for view in found.views if every_slice or view.slice == ALL or view.firing]
    yield table([_row(view) for view in listed], header=_HEADER)
    if len(listed) < len(found.views):
        yield f"  and {len(found.views) - len(listed):,} slices without an alarm (--all)"
    yield from map(_event_line, found.events[-_EVENTS:])
    yield from found.judge


_HEADER: Final = ("series", "slice", "state", "evaluations", "baseline", "alarm threshold", "evidence", "latest")


def _row(view: SeriesView) -> list[str]:
    numbers = ["-" if each is None else f"{each:.3f}" for each in (view.baseline, view.floor)]
    evidence = "-" if view.evidence is None else f"{view.evidence:.2f}"
    return [view.series, view.slice, view.state, f"{view.count:,}", *numbers, evidence, latest(view)]


def event_record(event: DriftEvent) -> dict[str, Any]:
    """An event for programs: times in ISO 8601, means on the scale that people know, `evidence` as log10 over the
    threshold. Unknown is null."""

    def mean(goodness: float | None) -> float | None:
        return None if goodness is None else round(shown(event.series, goodness), 6)

    interval = (
        None if event.interval is None else sorted(round(shown(event.series, each), 6) for each in event.interval)
    )
    return {
        "time": _iso(event.time_s),
        "event": "resolved" if event.resolved else "deeper" if event.deeper else "alarm",
        "series": event.series,
        "slice": event.slice,
        "before": mean(event.before),
        "estimate": mean(event.estimate),
        "interval": interval,
        "since": _iso(event.since_s),
        "since_interval": [_iso(event.earliest_s), _iso(event.latest_s)],
        "baseline": mean(event.baseline),
        "evidence": round(event.evidence, 3) if math.isfinite(event.evidence) else None,
        "sentence": sentence(event),
        "evaluations": event.count,
        "worth": round(event.worth, 1) if math.isfinite(event.worth) else None,
        "learned_from": None
        if not event.learned.count
        else {
            "evaluations": event.learned.count,
            "worth": round(event.learned.worth, 1),
            "from": _iso(event.learned.from_s),
            "until": _iso(event.learned.until_s),
        },
        "change_while_learning": None if event.learned.change_s is None else _iso(event.learned.change_s),
        "not_learned": list(event.learned.unknown),
        "moved": [describe(movement, event.series) for movement in event.movements],
    }


def _iso(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def _event_line(event: DriftEvent) -> str:
    line = f"{moment(event.time_s)}  {'resolved' if event.resolved else 'alarm'}: {sentence(event)}"
    if event.resolved:
        return line
    most = [describe(movement, event.series) for movement in event.movements[:2]]
    if event.learned.count:
        window = f"{moment(event.learned.from_s)} to {moment(event.learned.until_s)}"
        most.append(f"normal was learned from {event.learned.count} evaluations, {window}")
    if event.learned.change_s is not None:
        most.append(f"the learning window itself has a drop at {moment(event.learned.change_s)}")
    return "\n    ".join([line, *most])


def _written(found: Sequence[ReportedSeries], arguments: argparse.Namespace) -> Iterator[str]:
    """Writes the page and the baselines that were asked for; what was written."""
    if len(found) > 1:
        folders = ", ".join(each.heading for each in found)
        raise ConfigurationError(f"the folder has states of several processes: choose one with --state ({folders})")
    (one,) = found
    if arguments.html is not None:
        page = render_page(one.views, one.events, heading=one.heading, worst=one.worst, link=one.link)
        write_file(arguments.html, page, option="html")
        yield f"written: {arguments.html}"
    if arguments.save_baselines is not None:
        means: dict[str, dict[str, dict[str, float]]] = {}
        for view in one.views:
            if view.baseline is not None and view.bound is not None:
                known = {"mean": round(view.baseline, 6), "bound": round(view.bound, 6)}
                means.setdefault(view.series, {})[view.slice] = known
        text = json.dumps(means, indent=1, sort_keys=True) + "\n"
        write_file(arguments.save_baselines, text, option="save-baselines")
        yield f"written: {arguments.save_baselines}"
