"""One comparison: both sides started, their outputs compared, then timed in turn."""

import json
import statistics
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass, field

from .side import Side, SideError
from .workloads import compare_outputs

CALLS = 4  # of a turn; the first finds the caches as the other side left them and is not counted
COMPILATIONS = 10
# Core types of OpenBLAS that are tried; those that the machine cannot run, or computes wrongly, drop out.
CORE_TYPES = ("", "Haswell", "Zen", "SkylakeX", "Cooperlake", "Sapphirerapids")


@dataclass
class Figure:
    workload: str
    what: str  # "run" or "compile"
    threads: int
    target: float | None  # the largest good ratio
    ours: str  # what each side says of itself
    peer: str
    choice: str  # of the peer's schedule or core type
    ours_ms: float = 0.0
    peer_ms: float = 0.0
    ratio: float = 0.0  # our time over the peer's, the median of the rounds
    spread: list = field(default_factory=list)  # the ratios at one and three quarters of the rounds
    rounds: int = 0

    def fill(self, pairs):
        """From the seconds of both sides in each round."""
        ratios = [ours / peer for ours, peer in pairs]
        self.ours_ms = statistics.median(ours for ours, _ in pairs) * 1e3
        self.peer_ms = statistics.median(peer for _, peer in pairs) * 1e3
        self.ratio = statistics.median(ratios)
        if len(ratios) > 1:
            quarters = statistics.quantiles(ratios, n=4)
            self.spread = [quarters[0], quarters[2]]
        self.rounds = len(pairs)
        return self

    def verdict(self):
        return "" if self.target is None else "reached" if self.ratio <= self.target else "missed"


class Comparer:
    def __init__(self, places, rounds, our_schedule):
        self.places, self.rounds, self.our_schedule = places, rounds, our_schedule

    def our_side(self, work, inputs, threads):
        command = [self.places.ours, work.operator, work.type, self.our_schedule]
        return Side(command + self._arguments(work, inputs), threads)

    def peer_side(self, work, inputs, threads, schedule, core=""):
        command = [self.places.programs / f"{work.peer}_{work.operator}", work.type, schedule]
        environment = {}
        if work.peer == "openblas":
            environment["OPENBLAS_LIBRARY"] = str(self.places.openblas)
            environment["LD_LIBRARY_PATH"] = str(self.places.openblas_needs)
            if core:
                environment["OPENBLAS_CORETYPE"] = core
        return Side(command + self._arguments(work, inputs), threads, environment)

    @staticmethod
    def _arguments(work, inputs):
        return [",".join(f"{n}={v}" for n, v in work.sizes.items()), *inputs]

    def fastest_peer(self, work, inputs, threads):
        """The quickest of the peer's schedules and core types, as (schedule, core type)."""
        cores = CORE_TYPES if work.peer == "openblas" else ("",)
        schedules = list(work.peer_schedules)
        if work.same_schedule:
            schedules.append(self._with_our_knobs(work))
        times = {}
        for choice in [(schedule, core) for schedule in schedules for core in cores]:
            try:
                with self.peer_side(work, inputs, threads, *choice) as peer:
                    peer.seconds("run", 2)
                    times[choice] = min(peer.seconds("run", 8))
                    self.check(work, inputs, None, peer)
            except (SideError, ValueError) as error:
                times.pop(choice, None)
                print(f"  left out: {error}")
        if not times:
            raise SideError(f"{work.name}: no peer runs")
        return min(times, key=times.get)

    def check(self, work, inputs, ours, peer):
        """ValueError if outputs differ. Without `ours` the peer's stands for both: a wrong product shows."""
        with tempfile.TemporaryDirectory(dir=self.places.data) as folder:
            paths = [f"{folder}/{who}" for who in ("ours", "peer")]
            peer.write(paths[1])
            (ours or peer).write(paths[0])
            wrong = compare_outputs(work, inputs, *paths)
        if wrong:
            raise ValueError(f"{work.name}: {wrong}")

    def run_time(self, work, inputs, threads):
        choice = self.fastest_peer(work, inputs, threads)
        with ExitStack() as stack:
            ours = stack.enter_context(self.our_side(work, inputs, threads))
            peer = stack.enter_context(self.peer_side(work, inputs, threads, *choice))
            for side in (ours, peer):
                side.seconds("run", 2)
            self.check(work, inputs, ours, peer)
            turn = lambda side: statistics.median(side.seconds("run", CALLS)[1:])
            text = self._text(work, choice)
            figure = Figure(work.name, "run", threads, work.run_target, ours.about, peer.about, text)
            return figure.fill(self._in_turn(ours, peer, turn, self.rounds))

    def compile_time(self, work, inputs):
        """In turn, each side's own process; the first compilation of each warms it up."""
        with ExitStack() as stack:
            ours = stack.enter_context(self.our_side(work, inputs, 1))
            schedule = self._with_our_knobs(work)
            peer = stack.enter_context(self.peer_side(work, inputs, 1, schedule))
            turn = lambda side: side.seconds("compile", 1)[0]
            for side in (ours, peer):
                turn(side)
            choice = self._text(work, (schedule, ""))
            figure = Figure(work.name, "compile", 1, work.compile_target, ours.about, peer.about, choice)
            return figure.fill(self._in_turn(ours, peer, turn, COMPILATIONS))

    def _with_our_knobs(self, work):
        """The peer's schedule that is equal to ours, with the values of our file where it is for this type."""
        file = self.places.schedules / work.operator / "host.json"
        if self.our_schedule != "shipped" or not file.exists():
            return work.same_schedule
        for case in json.loads(file.read_text())["cases"]:
            if case["variant"] == work.type and case["knobs"]:
                knobs = ",".join(f"{name}={value}" for name, value in case["knobs"].items())
                return f"{work.same_schedule}:{knobs}"
        return work.same_schedule

    @staticmethod
    def _in_turn(ours, peer, turn, rounds):
        pairs = []
        for i in range(rounds):
            if i % 2 == 0:
                mine = turn(ours)
                pairs.append((mine, turn(peer)))
            else:
                other = turn(peer)
                pairs.append((turn(ours), other))
        return pairs

    @staticmethod
    def _text(work, choice):
        schedule, core = choice
        if work.peer == "openblas":
            return f"core type {core or 'of its own choice'}"
        return f"schedule {schedule}"
