"""What drift monitoring says: since when, how much, which slices moved it most."""

from __future__ import annotations

from rag_otel.drift.baseline import Baseline
from rag_otel.drift.change import Movement
from rag_otel.drift.records import stored
from rag_otel.lazy_dataclass import dataclass


@stored
@dataclass(frozen=True, slots=True, kw_only=True)
class DriftEvent:
    """A series has begun to drift, or has come back. Means are goodness in 0..1 (see `observation.shown`)."""

    series: str
    """`<metric>.score`, `.risk` or `.unscored`."""
    slice: str
    """`all` or `dimension=value`."""
    resolved: bool = False
    deeper: bool = False
    """The mean has fallen below what the alarm that is on has told."""
    time_s: float
    """When it was noticed, seconds since the epoch, by the traces' own time."""
    since_s: float
    """When it most likely began; `earliest_s` and `latest_s` are about 95% around it."""
    earliest_s: float
    latest_s: float
    learned: Baseline
    """What was normal."""
    floor: float
    """What the mean was bet to be below: the baseline's lower bound less what it wanders."""
    before: float | None
    """The weighted mean before it began."""
    estimate: float | None
    """The weighted mean since; None where nothing is known."""
    interval: tuple[float, float] | None
    """About 95% for `estimate`, at the moment of the alarm: the upper end is further away, for an alarm comes when the
    estimate is lowest. Measured, not a theorem."""
    count: int
    """Values since it began."""
    bad: float | None = None
    """Share of them that is bad by itself (unfaithful), 0..1; None where nothing is known."""
    bad_before: float | None = None
    """The same of those before it began."""
    count_before: int = 0
    """Values before it began, as far back as is remembered."""
    worth: float = 0.0
    """How many independent ones they are worth, as far as can be told."""
    evidence: float
    """log10 of the evidence over the alarm's threshold."""
    movements: tuple[Movement, ...] = ()
    """The slices that moved it most, worst first."""

    @property
    def baseline(self) -> float:
        """The mean that was normal."""
        return self.learned.mean

    @property
    def drop(self) -> float:
        """How far the mean has fallen, as goodness; the whole of what was before where nothing is known of it since."""
        return (self.baseline if self.before is None else self.before) - (self.estimate or 0.0)

    @property
    def metric(self) -> str:
        return self.series.rpartition(".")[0]
