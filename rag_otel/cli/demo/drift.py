"""What drift monitoring says of the demo's week: since when, how far, which model; and the picture of it."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Final

from rag_otel.cli.demo.report import Outcome
from rag_otel.cli.drift_report.view import replay
from rag_otel.drift.alerting import describe, moment
from rag_otel.drift.event import DriftEvent
from rag_otel.drift.family import DriftSettings
from rag_otel.drift.observation import ALL, Observation, observation
from rag_otel.drift.sentence import sentence

BASELINE_COUNT: Final = 80
"""The week has 170 answers; in production 500 are learned from."""


def drift_report(found: Sequence[Outcome]) -> str:
    """The alarms over all traffic, as text; one line where nothing was noticed."""
    settings = DriftSettings(baseline_count=BASELINE_COUNT, dimensions=("model",))
    alarms = [event for event in replay(_observations(found), settings).events if event.slice == ALL]
    title = f"  Drift, with a baseline of the first {BASELINE_COUNT} answers:"
    return "\n".join([title, *(map(_line, alarms) if alarms else ["    none noticed"])])


def _observations(found: Sequence[Outcome]) -> list[Observation]:
    """At the times of the story: the clock was shifted on the way to Phoenix, not here."""
    seen = ((each, observation(each.result, ("model",))) for each in found)
    return [dataclasses.replace(each, time_s=outcome.asked.at_ns / 1e9) for outcome, each in seen if each is not None]


def _line(event: DriftEvent) -> str:
    line = f"    {moment(event.time_s)}  {sentence(event)}"
    return "\n      ".join([line, *(describe(each, event.series) for each in event.movements[:1])])
