"""`rag-otel drift`: shows the saved state of drift monitoring, or replays scores from files or Phoenix."""

from __future__ import annotations

import argparse
import dataclasses
import json
import math
import sys
from collections.abc import Sequence
from contextlib import nullcontext, redirect_stdout
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Final

from rag_otel.cli.drift_report.page import latest, render_page
from rag_otel.cli.drift_report.view import SeriesView, replay, views
from rag_otel.cli.drift_report.worst import worst_answers
from rag_otel.cli.phoenix_access import phoenix_client, phoenix_errors, time_bounds
from rag_otel.cli.terminal import table
from rag_otel.drift.alerting import describe, moment
from rag_otel.drift.event import DriftEvent
from rag_otel.drift.memory import StoredMemory, ask_to_relearn, judge_lines, read_memories
from rag_otel.drift.observation import ALL, Observation, shown
from rag_otel.drift.sentence import sentence
from rag_otel.drift.setup import drift_settings
from rag_otel.errors import ConfigurationError, InputError
from rag_otel.settings import Settings, resolve
from rag_otel.writers.phoenix_links import phoenix_page, trace_link
from rag_otel_collectors.stored.scores import JUDGE, from_files, from_other_judge, from_phoenix, metrics_of

_EVENTS: Final = 12
_OVERRIDES: Final = ("drift_baseline", "drift_baseline_count", "state_folder")


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", nargs="*", metavar="FILE", help="scores to replay: JSON Lines, or OTLP/JSON")
    parser.add_argument("--project", metavar="NAME", help="replay the scores of a Phoenix project")
    parser.add_argument("--phoenix-endpoint", metavar="URL", help="Phoenix's address (default: from the environment)")
    parser.add_argument(
        "--annotation", metavar="NAME", help="with --project: other judges' annotations of this name, not rag-otel's"
    )
    parser.add_argument(
        "--since", metavar="WHEN", help="only traces that started at or after this time: 7d, 12h, 2026-05-01T12:00"
    )
    parser.add_argument("--until", metavar="WHEN", help="only traces that started before this time")
    parser.add_argument("--state", dest="state_folder", metavar="DIR", help="the state folder of the application")
    parser.add_argument("--json", action="store_true", help="print every event as a line of JSON, and nothing else")
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


def run(arguments: argparse.Namespace) -> int:
    """Returns 1 while a series is in alarm, else 0. Raises ConfigurationError or InputError (exit code 2)."""
    arguments.events_to = sys.stdout
    with redirect_stdout(sys.stderr) if arguments.json else nullcontext():  # only events, for a program to read
        return _run(arguments)


def _run(arguments: argparse.Namespace) -> int:
    given = {name: getattr(arguments, name) for name in _OVERRIDES}
    given |= {"phoenix_endpoint": arguments.phoenix_endpoint, "project_name": arguments.project}
    settings = resolve(given).settings
    if arguments.relearn:
        return _relearn(settings, arguments)
    if arguments.files or arguments.project:
        return _replay(settings, arguments)
    return _show_state(settings, arguments)


def _replay(settings: Settings, arguments: argparse.Namespace) -> int:
    observations = _observations(settings, arguments)
    if not observations:
        raise InputError("found no scores to replay")
    own = dataclasses.replace(drift_settings(settings), metrics=metrics_of(observations))
    if arguments.annotation:
        own = dataclasses.replace(own, dimensions=(*own.dimensions, JUDGE))
    found = replay(observations, own)
    heading = f"Replay of {', '.join(arguments.files) or arguments.project}: {len(observations):,} evaluations"
    shown = views(found.family, found.events, found.timelines)
    if arguments.html is not None:
        worst = {(view.series, view.slice): worst_answers(observations, view) for view in shown if view.firing}
        page = phoenix_page(settings) if arguments.project else None
        link = None if page is None else partial(trace_link, page)
        _write(arguments.html, render_page(shown, found.events, heading=heading, worst=worst, link=link))
    return _show(shown, found.events, arguments, heading)


def _observations(settings: Settings, arguments: argparse.Namespace) -> list[Observation]:
    if arguments.files and arguments.project:
        raise ConfigurationError("give either files or --project, not both")
    if arguments.files:
        if arguments.annotation:
            raise ConfigurationError("--annotation is for a Phoenix project: give --project NAME, not files")
        return from_files(arguments.files, settings.drift.slices)
    reader, bounds = phoenix_client(settings), time_bounds(arguments)
    with phoenix_errors(settings):
        if arguments.annotation:
            named = arguments.annotation
            return list(from_other_judge(reader, arguments.project, settings.drift.slices, named, **bounds))
        return list(from_phoenix(reader, arguments.project, settings.drift.slices, **bounds))


def _show_state(settings: Settings, arguments: argparse.Namespace) -> int:
    states = read_memories(_folder(settings), drift_settings(settings))
    if not states:
        raise InputError(f"{settings.state_folder}: no drift state; it is saved half a minute after the first results")
    codes = [_show_one(state, arguments, only=len(states) == 1) for state in states]
    return max(codes)


def _show_one(stored: StoredMemory, arguments: argparse.Namespace, *, only: bool) -> int:
    state, folder = stored.memory, stored.path.parent
    if not only and (arguments.html or arguments.save_baselines):
        raise ConfigurationError(f"the folder has states of several processes: choose one, --state {folder}")
    heading = f"Drift, {folder}, saved {moment(state.saved_s)}"
    shown = views(state.family, state.events)
    if arguments.html is not None:
        _write(arguments.html, render_page(shown, state.events, heading=heading))
    code = _show(shown, state.events, arguments, heading)
    for line in judge_lines(state.readings):
        print(line)
    return code


def _show(
    found: Sequence[SeriesView], events: Sequence[DriftEvent], arguments: argparse.Namespace, heading: str
) -> int:
    if arguments.json:
        for event in events:
            print(json.dumps(event_record(event)), file=arguments.events_to)
    else:
        _print(found, events, arguments, heading)
    if arguments.save_baselines is not None:
        _save_baselines(found, arguments.save_baselines)
    return 1 if any(view.firing for view in found) else 0


def _print(
    found: Sequence[SeriesView], events: Sequence[DriftEvent], arguments: argparse.Namespace, heading: str
) -> None:
    print(heading)
    listed = [view for view in found if arguments.all or view.slice == ALL or view.firing]
    print(table([_row(view) for view in listed], header=_HEADER))
    if len(listed) < len(found):
        print(f"  and {len(found) - len(listed):,} slices without an alarm (--all)")
    for event in events[-_EVENTS:]:
        print(_event_line(event))


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


def _save_baselines(found: Sequence[SeriesView], path: Path) -> None:
    means: dict[str, dict[str, dict[str, float]]] = {}
    for view in found:
        if view.baseline is not None and view.bound is not None:
            known = {"mean": round(view.baseline, 6), "bound": round(view.bound, 6)}
            means.setdefault(view.series, {})[view.slice] = known
    _write(path, json.dumps(means, indent=1, sort_keys=True) + "\n")


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise ConfigurationError(f"{path}: cannot be written: {error.strerror}") from None
    print(f"written: {path}")


def _relearn(settings: Settings, arguments: argparse.Namespace) -> int:
    asked = ask_to_relearn(_folder(settings))
    print(f"{asked} states will learn new baselines; a running process starts within a minute of its next result")
    return 0


def _folder(settings: Settings) -> Path:
    if settings.state_folder is None:
        raise ConfigurationError(
            "nothing to show: give FILEs, --project NAME, or --state DIR (environment: RAG_OTEL_STATE_FOLDER)"
        )
    return Path(settings.state_folder)
