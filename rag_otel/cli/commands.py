"""The table of commands: name, one line of help, and the module that runs it.

A module has `configure(parser)` and `run(arguments)`, which returns its `Outcome`, or the exit code if it prints as it
goes on; where it runs several commands, `MODULE:NAME` has `configure_NAME` and `run_NAME`. A group has commands of its
own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final


@dataclass(frozen=True, kw_only=True)
class Command:
    """A command, or a group of them."""

    help: str
    module: str = ""
    """Below `rag_otel.cli`; empty for a group."""
    commands: Mapping[str, Command] = field(default_factory=dict)


COMMANDS: Final[Mapping[str, Command]] = {
    "demo": Command(help="run the demo app over real data and show the result in Phoenix", module="demo"),
    "doctor": Command(
        help="send a test trace with the current settings and check that it arrives with its scores", module="doctor"
    ),
    "inspect": Command(help="print every RAG trace in OTLP/JSON files, one JSON object per line", module="inspect"),
    "evaluate": Command(help="score a file of questions, contexts and responses", module="evaluate"),
    "compare": Command(
        help="compare two evaluations of the same questions, for a build with thresholds", module="compare"
    ),
    "collect": Command(
        help="receive OTLP, evaluate RAG traces, and forward all spans to any OTLP backend", module="collect"
    ),
    "work": Command(help="evaluate jobs of a queue, and write their results", module="work"),
    "traces": Command(
        help="evaluate, export, plan and sum up traces that are stored already",
        commands={
            "backfill": Command(
                help="evaluate traces that are already stored in Phoenix or in OTLP files", module="traces.backfill"
            ),
            "export": Command(
                help="write the worst, most uncertain or hand-corrected answers of Phoenix to a dataset or a file",
                module="traces.export",
            ),
            "sessions": Command(
                help="score whole sessions from the scores of their answers, and annotate Phoenix's sessions",
                module="traces.sessions",
            ),
            "plan": Command(
                help="estimate what a sampling policy would have evaluated of Phoenix's last week, and its cost",
                module="traces.plan",
            ),
        },
    ),
    "labels": Command(
        help="compare a judge with people, and choose what people should label",
        commands={
            "calibrate": Command(
                help="compare a judge with people's labels, and fit its risks to them", module="labels.calibrate"
            ),
            "review": Command(
                help="put the answers whose label teaches most into a queue in Phoenix", module="labels.review"
            ),
            "feedback": Command(
                help="evaluate answers that people have rated in Phoenix and that have no result yet",
                module="labels.feedback",
            ),
        },
    ),
    "judge": Command(
        help="check how good a judge is, and look at its prompts",
        commands={
            "check": Command(help="how far a judge agrees with the contrast benchmark", module="judge.check"),
            "prompts": Command(
                help="list, show, save or adapt the prompts of the judges",
                commands={
                    "list": Command(
                        help="every prompt with its language, version and hash", module="judge.prompts:list"
                    ),
                    "show": Command(help="print a prompt as the model receives it", module="judge.prompts:show"),
                    "save": Command(
                        help="write prompts into a folder, where you can change them", module="judge.prompts:save"
                    ),
                    "adapt": Command(
                        help="let a model write the examples in another language", module="judge.prompts:adapt"
                    ),
                },
            ),
        },
    ),
    "drift": Command(
        help="show changes of scores: since when, how large, in which slices; replay history", module="drift"
    ),
    "alerts": Command(
        help="see whether alerts reach you",
        commands={
            "test": Command(help="send one alert and its resolved message to each configured channel", module="alerts"),
        },
    ),
    "dead-letters": Command(
        help="list spans that a backend refused and jobs that workers gave up, and send them again",
        module="dead_letters",
    ),
}
