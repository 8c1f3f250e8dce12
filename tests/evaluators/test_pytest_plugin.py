"""The pytest plugin, in runs of pytest of its own."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytest_plugins = ("pytester",)

PLUGIN = "rag_otel_evaluators.pytest_plugin"
TESTS = """
    import pytest

    CHUNKS = ["The tower is 330 metres high and was finished in 1889."]
    RIGHT = "The tower is 330 metres high."
    WRONG = "The tower is 330 metres high. It was finished in 1925."

    def test_right(assert_faithful):
        assert assert_faithful("How high?", CHUNKS, RIGHT).score == 1.0

    def test_wrong(assert_faithful):
        assert_faithful("When?", CHUNKS, WRONG)

    @pytest.mark.faithful(threshold=0.5)
    def test_marked(assert_faithful):
        assert_faithful("When?", CHUNKS, WRONG)

    @pytest.mark.faithful(threshold=0.5)
    def test_argument_before_marker(assert_faithful):
        assert_faithful("When?", CHUNKS, WRONG, threshold=0.9)
"""


@pytest.fixture
def run(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """Only this plugin, as an entry point would load it."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("PYTEST_ADDOPTS", f"-p {PLUGIN}")
    return pytester


def test_fixture_and_marker(run: pytest.Pytester) -> None:
    """The failure names the claim; the marker's threshold holds unless the call has its own."""
    run.makepyfile(TESTS)
    result = run.runpytest_inprocess("--strict-markers")
    result.assert_outcomes(passed=2, failed=2)
    result.stdout.fnmatch_lines(["E*contradicted: 'It was finished in 1925.'"])
    result.stdout.fnmatch_lines(["*test_wrong*", "*test_argument_before_marker*"])


@pytest.mark.parametrize("way", ["ini", "option"])
def test_defaults_of_a_run(run: pytest.Pytester, way: str) -> None:
    """From the configuration file or the command line."""
    run.makepyfile(TESTS)
    if way == "ini":
        run.makeini("[pytest]\nrag_otel_threshold = 0.5\nrag_otel_judge = embedded\n")
    options = ["--rag-otel-threshold", "0.5"] if way == "option" else []
    run.runpytest_inprocess(*options).assert_outcomes(passed=3, failed=1)


@pytest.mark.parametrize(
    ("marker", "options", "message"),
    [
        ("@pytest.mark.faithful(limit=0.5)", [], "not limit"),
        ("@pytest.mark.faithful(0.5)", [], "not 0.5"),
        ("", ["--rag-otel-threshold", "high"], "'high' is not a number"),
        ("", ["--rag-otel-judge", "gtp"], "gtp"),
    ],
)
def test_wrong_settings(run: pytest.Pytester, marker: str, options: list[str], message: str) -> None:
    """Are errors that name the setting."""
    test = "def test_it(assert_faithful):\n    assert_faithful('How?', ['It is high.'], 'It is high.')\n"
    run.makepyfile(f"import pytest\n{marker}\n{test}")
    result = run.runpytest_inprocess(*options)
    assert result.parseoutcomes().keys() & {"error", "errors", "failed"}
    result.stdout.fnmatch_lines([f"*{message}*"])


def test_the_plugin_imports_nothing_of_ours() -> None:
    """Every pytest run in the environment imports it."""
    script = (
        f"import pytest, sys; before = set(sys.modules); import {PLUGIN}; "
        "print(*(name for name in set(sys.modules) - before if name.partition('.')[0] != 'rag_otel_evaluators'))"
    )
    shown = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert shown.stdout.split() == []
