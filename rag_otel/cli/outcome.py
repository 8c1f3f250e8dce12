"""What a command returns: its result once, for people and for scripts."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The result of a command. `main` shows it."""

    text: str = ""
    """For people, on standard output."""
    data: Any = None
    """The same for a script, in place of the text where `--json` is given."""
    one_per_line: bool = False
    """`data` is a list, and each of it is a line of JSON."""
    notes: Sequence[str] = ()
    """What is wrong, for standard error."""
    code: int = 0
    """Exit code."""

    def show(self, command: str, *, as_json: bool) -> None:
        """Prints the result; notes have the command's name in front."""
        if as_json:
            for each in self.data if self.one_per_line else [self.data]:
                print(json.dumps(each))
        elif self.text:
            print(self.text)
        sys.stdout.flush()
        for note in self.notes:
            print(f"{command}: {note}", file=sys.stderr)
