"""Every figure of the README, one script after the other: `make bench`.

Each script prints its own figures as ratios or rates measured in one run, and takes `--help`. A script that fails does
not stop the others; the exit code says whether one did.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent


def main() -> int:
    """Run every other script of this folder; 1 when one of them failed."""
    failed = []
    for script in sorted(HERE.glob("*.py")):
        if script.name == Path(__file__).name or script.name.startswith("_"):
            continue
        print(f"\n=== {script.name} " + "=" * (90 - len(script.name)), flush=True)
        if subprocess.run([sys.executable, str(script)], check=False).returncode:
            failed.append(script.name)
    if failed:
        print(f"\nfailed: {', '.join(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
