"""One process's part in the shared monitor: without a folder that can be written, at the end, and after an upgrade."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from rag_otel.alert import Alert
from rag_otel.alerts.inbox import Inbox
from rag_otel.alerts.telling import AlertDelivery
from rag_otel.delivery.dispatcher import Dispatcher
from rag_otel.durable.process_logs import LogWriter
from rag_otel.errors import ConfigurationError
from rag_otel.model import EvaluatedTrace
from rag_otel.settings import resolve
from rag_otel.setup.delivering import compose_delivery
from rag_otel.sharing.consumers import Observed, Positions
from rag_otel.sharing.group import SharedMonitoring, Voice
from rag_otel.sharing.leadership import SharedFolder
from rag_otel.sharing.records import RecordFormat, record_now
from testkit.drift_scores import results
from testkit.polling import eventually
from testkit.settings import grouped
from tests.support.results import RESPONSE, SECRET_TEXTS, a_result, an_evaluation

QUICK = {"drift_baseline_count": 200, "alert_digest": 0.0, "alert_rules": ["score<0"]}


def a_delivery(folder: Path, told: list[Alert], **settings: Any) -> Dispatcher:
    given = {"state_folder": str(folder), "metrics": ["faithfulness"], **QUICK, **settings}
    settings = resolve(grouped(**given, on_alert=told.append)).settings
    return compose_delivery(settings)


def a_drop() -> list[EvaluatedTrace]:
    return [*results(0.92, 300), *results(0.72, 200, at=300, seed=1)]


def test_one_process_watches_by_itself(tmp_path: Path) -> None:
    """It leads, tells the drop, and leaves no record that was read."""
    told: list[Alert] = []
    delivery = a_delivery(tmp_path, told)
    for each in a_drop():
        delivery.submit(each)
    assert delivery.flush(30)
    assert [alert.name for alert in told] == ["drift_score"]
    delivery.shutdown(10)
    told.clear()
    delivery = a_delivery(tmp_path, told)  # the next process deletes the log that was read to its end
    delivery.start()
    eventually(lambda: len(list((tmp_path / "shared" / "observed").iterdir())) == 0)
    delivery.shutdown(10)
    assert told == []


def test_where_the_folder_cannot_be_written_the_process_watches_alone(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """One warning, and the drop is told."""
    (tmp_path / "shared").write_text("a file where the folder should be")
    told: list[Alert] = []
    delivery = a_delivery(tmp_path, told)
    with caplog.at_level(logging.WARNING, "rag_otel"):
        for each in a_drop():
            delivery.submit(each)
        assert delivery.flush(30)
        delivery.shutdown(10)
    assert [alert.name for alert in told] == ["drift_score"]
    assert sum("watches its own answers alone" in record.message for record in caplog.records) == 1


def test_a_folder_that_vanishes_ends_nothing(tmp_path: Path) -> None:
    """Somebody deletes the logs while the process runs: it goes on alone."""
    told: list[Alert] = []
    delivery = a_delivery(tmp_path, told)
    good, bad = a_drop()[:300], a_drop()[300:]
    for each in good:
        delivery.submit(each)
    assert delivery.flush(30)
    shutil.rmtree(tmp_path / "shared")
    for each in bad:
        delivery.submit(each)
    assert delivery.flush(30)
    delivery.shutdown(10)
    assert [alert.name for alert in told] == ["drift_score"]


def test_bad_settings_fail_at_the_start(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="alert_rules"):
        a_delivery(tmp_path, [], alert_rules=["nonsense"])


def test_a_record_keeps_what_is_watched_and_shown() -> None:
    """A result comes back with its numbers; a bad answer with its texts, a good one without."""
    form = RecordFormat(lambda result: True)
    result = a_result(session_id="s", tags={"tenant": "t"})
    back = form.decode(form.encode(record_now(result=result))).result
    assert back is not None
    assert (back.trace.target, back.trace.response) == (result.trace.target, RESPONSE)
    assert back.decision == result.decision
    assert [each.claim.text for each in back.evaluations[0].claims] == [RESPONSE[27:48], RESPONSE[49:78], ""]
    assert {each.verdict for each in back.evaluations[0].claims} == {
        each.verdict for each in result.evaluations[0].claims
    }


@pytest.mark.parametrize("hidden", [True, False])
def test_a_record_holds_no_text_that_no_alert_shows(hidden: bool) -> None:
    form = RecordFormat(lambda result: hidden, capture_content=not hidden)
    payload = form.encode(record_now(result=a_result(an_evaluation(explanation=None)))).decode()
    assert not [text for text in SECRET_TEXTS if text in payload]


def test_a_log_of_another_process_is_read_by_the_one_that_leads(tmp_path: Path) -> None:
    """What a process wrote that has died since, counts."""
    told: list[Alert] = []
    (tmp_path / "shared" / "observed").mkdir(parents=True)
    writer = LogWriter(tmp_path / "shared" / "observed")
    form = RecordFormat(lambda result: True)
    writer.append([form.encode(record_now(result=each)) for each in a_drop()])
    writer.close()
    delivery = a_delivery(tmp_path, told)
    delivery.start()
    eventually(lambda: told)
    delivery.shutdown(10)
    assert [alert.name for alert in told] == ["drift_score"]
    assert told[0].examples[0].response is not None


class Seen:
    """A consumer that notes the routes of the results, in the order it gets them."""

    def __init__(self) -> None:
        self.read = Positions()
        self.routes: list[str | None] = []

    def take(self, batch: Sequence[Observed]) -> None:
        self.routes += [each.result.trace.route for each in batch]


def test_results_of_several_processes_are_watched_in_the_order_of_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The leader's own as well: it does not watch them before older ones that another process has written."""
    monkeypatch.setattr("rag_otel.sharing.group._SETTLE_S", 3600.0)  # however slowly the other one writes
    seen, form = Seen(), RecordFormat(lambda result: True)

    def a_process() -> SharedMonitoring:
        return SharedMonitoring(
            SharedFolder(str(tmp_path)),
            lambda state, elsewhere: Voice(consumers=[seen], delivery=AlertDelivery(Inbox())),
            form,
        )

    leader, other = a_process(), a_process()
    assert leader.flush(30)  # it leads
    other.submit(a_result(route="0"))  # there is another one
    assert other.flush(30)
    assert leader.flush(30)
    for route, process in (("1", other), ("2", leader), ("3", other), ("4", leader)):
        process.submit(a_result(route=route))
    assert other.flush(30)
    assert leader.flush(30)
    assert seen.routes == ["0", "1", "2", "3", "4"]
    other.shutdown(10)
    leader.shutdown(10)
