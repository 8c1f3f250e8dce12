"""A configuration in one file: everything in it is checked before anything is judged."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from rag_otel.errors import ConfigurationError, InputError
from rag_otel_evaluators.build import build_evaluators
from rag_otel_evaluators.judges.config import JudgeConfig
from rag_otel_evaluators.judges.llm_faithfulness import LlmJudge
from rag_otel_evaluators.metrics.faithfulness import Faithfulness
from rag_otel_evaluators.offline.config import EvaluationConfig, make_config, read_config_file

EVERYTHING = """
data: answers.parquet
columns: {question: q, contexts: "pred.docs[*].text", response: pred.answer}
metrics: [faithfulness, response_relevancy]
judge:
  model: openai/judge
  api_base: http://127.0.0.1:9/v1
  api_key_env: TEST_JUDGE_KEY
  temperature: 0.2
  parameters: {seed: 7}
  timeout: 20
  requests_per_minute: 500
  tokens_per_minute: 100000
  strategy: two_step
  reading: lenient
embedder: openai/text-embedding-3-small
language: es
prompts: /prompts
concurrency: 7
cache: kept.sqlite
output: scored.csv
report: report
fail_under: {faithfulness: 0.8}
"""


def config_of(folder: Path, text: str) -> EvaluationConfig:
    path = folder / "config.yaml"
    path.write_text(text, encoding="utf-8")
    return make_config(read_config_file(path), source=str(path))


def test_everything_in_one_file(tmp_path: Path) -> None:
    """Every setting has its place; paths are relative to the file, absolute ones stay."""
    config = config_of(tmp_path, EVERYTHING)
    assert config.data == tmp_path / "answers.parquet"
    assert (config.output, config.report) == (str(tmp_path / "scored.csv"), tmp_path / "report")
    assert (config.cache_path, config.prompts) == (tmp_path / "kept.sqlite", Path("/prompts"))
    assert config.columns == {"question": "q", "contexts": "pred.docs[*].text", "response": "pred.answer"}
    assert (config.judge.parameters, config.judge.requests_per_minute) == ({"seed": 7}, 500.0)
    assert config.embedder is not None
    assert config.embedder.model == "openai/text-embedding-3-small"
    assert (config.language, config.concurrency, config.fail_under) == ("es", 7, {"faithfulness": 0.8})


def test_the_settings_reach_the_judge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Strategy, reading, language and the key from the environment."""
    monkeypatch.setenv("TEST_JUDGE_KEY", "secret")
    config = config_of(tmp_path, EVERYTHING.replace("prompts: /prompts\n", ""))
    with ExitStack() as resources:
        faithfulness, relevancy = build_evaluators(config, resources, cache_path=config.cache_path)
        assert isinstance(faithfulness, Faithfulness)
        judge = faithfulness.judge
        assert isinstance(judge, LlmJudge)
        assert (judge.strategy, judge.reading, judge.name) == ("two_step", "lenient", "openai/judge")
        assert {prompt.language for prompt in judge.prompts.values()} == {"es"}
        assert relevancy.judge_name == "openai/judge+openai/text-embedding-3-small"
    assert config.cache_path == tmp_path / "kept.sqlite"
    monkeypatch.delenv("TEST_JUDGE_KEY")
    with pytest.raises(ConfigurationError, match="TEST_JUDGE_KEY is not set"):
        build_evaluators(config, resources)


@pytest.mark.parametrize(
    ("values", "path"),
    [
        ({"output": "out.csv"}, Path("out.csv.cache")),
        ({"output": "-"}, None),
        ({"output": "out.csv", "cache": False}, None),
        ({"output": "-", "cache": "here"}, Path("here")),
    ],
)
def test_where_answers_are_kept(values: dict[str, Any], path: Path | None) -> None:
    """Beside the output, where nothing else is said."""
    assert make_config(values, source="test").cache_path == path


def test_names_stand_for_settings() -> None:
    """A judge's name alone leaves the rest as it is; metrics may come as one text."""
    config = make_config({"judge": "openai/judge", "metrics": "a, b,a,"}, source="test")
    assert config.judge == JudgeConfig(model="openai/judge")
    assert config.metrics == ("a", "b")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("metric: faithfulness", "metric: unknown; there are: metrics, judge"),
        ("judge: {name: x}", "judge.model: Field required"),
        ("judge: {model: x, tempreature: 1}", "judge.tempreature: unknown; there are: model, api_base"),
        ("judge: {model: x, strategy: three}", "judge.strategy: Input should be 'single', 'two_step' or 'classifier'"),
        ("metrics: []", "give at least one name"),
        ("metrics: 3", "metrics: "),
        ("concurrency: 0", "concurrency: Input should be greater than or equal to 1"),
        ("columns: {question: [1]}", "columns.question: "),
        ("fail_under: {politeness: 0.5}", "fail_under: politeness is not among the metrics"),
        ("fail_under: {faithfulness: 80}", "must be within 0..1"),
        ("fail_under: {faithfulness: .nan}", "finite number"),
        ("- a\n- b", "is not a mapping of settings"),
        ("a: [", "is not YAML"),
        ("", "is not a mapping"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, text: str, message: str) -> None:
    """The file, the setting, and what it may be."""
    with pytest.raises(ConfigurationError, match=r"config\.yaml") as raised:
        config_of(tmp_path, text)
    assert message in str(raised.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    """Is named."""
    with pytest.raises(InputError, match=r"missing\.yaml: cannot be read"):
        read_config_file(tmp_path / "missing.yaml")


@pytest.mark.parametrize(
    ("judge", "message"),
    [
        ("nobody", "names no provider"),
        pytest.param("hhem/no/such/folder", "no/such", marks=pytest.mark.torch),
    ],
)
def test_judges_that_do_not_exist(judge: str, message: str) -> None:
    """Are named before anything is judged."""
    with ExitStack() as resources, pytest.raises(ConfigurationError, match=message):
        build_evaluators(make_config({"judge": judge}, source="test"), resources)


@pytest.mark.torch
def test_parameters_of_a_model_in_process() -> None:
    """Are its loader's arguments; another one is named, with those that there are."""
    judge = {"model": "hhem/folder", "parameters": {"devise": "cpu"}}
    with ExitStack() as resources, pytest.raises(ConfigurationError, match="unknown devise; there are: device"):
        build_evaluators(make_config({"judge": judge}, source="test"), resources)
