"""When the flows of a load start and end, and whose failure it is; the programs are sleeps."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from howquick.measure.children import ProgramFailed
from howquick.measure.flows import Company, Flow


@dataclass
class Job:
    timing: Path
    address: str = "10.0.2.1"
    port: int = 1
    arm: Any = None


class Sleeper:
    """In the place of a client: sleeps, and ends with a status."""

    def __init__(self, seconds: float, status: int = 0) -> None:
        self.argv = ["sh", "-c", f"sleep {seconds}; exit {status}"]
        self.process: subprocess.Popen[bytes] | None = None
        self.at_end = lambda: None
        self.job = Job(Path("/nowhere"), arm={"protocol": "h3"})

    def go(self) -> None:
        self.process = subprocess.Popen(self.argv)

    def finish(self) -> None:
        assert self.process is not None
        self.at_end()
        if status := self.process.wait():
            raise ProgramFailed(f"client sleeper ended with status {status}")

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()


class Standing:
    """In the place of a server."""

    def __init__(self, alive: bool = True) -> None:
        self.alive, self.stopped = alive, False
        self.job = Job(Path("/nowhere"))

    def check(self) -> None:
        if not self.alive:
            raise ProgramFailed("server standing ended with status 1")

    def collect(self, *_: object) -> None:
        """Nothing to collect."""

    def stop(self) -> None:
        self.stopped = True


def flow(number: int, client: Sleeper, start_s: float = 0, background: bool = False) -> Flow:
    server: Any = Standing()
    made: Any = client
    return Flow(f"arm-{number}", number, server, made, [], Path("/nowhere"), start_s, background)


def statuses(company: Company) -> list[str]:
    return [one["status"] for one in company.describe()["flows"]]


def test_the_load_waits_for_all_but_those_in_the_background() -> None:
    own, other = flow(0, Sleeper(0.05)), flow(1, Sleeper(0.2), start_s=0.1)
    endless, never = flow(2, Sleeper(60), background=True), flow(3, Sleeper(0), 50, True)
    company = Company(own, [other, endless, never])
    looks: list[int] = []
    company.run(30, lambda: looks.append(1))
    company.kill()
    assert statuses(company) == ["ok", "ok", "cut", "not started"] and len(looks) == 2
    assert own.started and other.started and other.started - own.started >= 0.09
    assert other.ended and other.ended - other.started >= 0.19
    company.collect(0)
    stopped = [bool(getattr(one.server, "stopped", None)) for one in company.beside]
    assert stopped == [False, True, False]


def test_the_arm_may_join_later() -> None:
    own, other = flow(0, Sleeper(0), start_s=0.1), flow(1, Sleeper(0))
    Company(own, [other]).run(30, lambda: None)
    assert own.started and other.started and own.started - other.started >= 0.09


def test_a_failure_names_its_flow() -> None:
    company = Company(flow(0, Sleeper(60)), [flow(1, Sleeper(0, 3))])
    with pytest.raises(
        ProgramFailed, match="flow 1, arm-1, beside it: client sleeper ended with status 3"
    ):
        company.run(30, lambda: None)
    company.own.client.kill()
    with pytest.raises(ProgramFailed, match=r"^client sleeper ended with status 4"):
        Company(flow(0, Sleeper(0, 4)), [flow(1, Sleeper(0))]).run(30, lambda: None)
    dead = flow(1, Sleeper(0))
    dead.server.alive = False  # type: ignore[attr-defined]
    with pytest.raises(ProgramFailed, match="flow 1, arm-1, beside it: server standing"):
        Company(flow(0, Sleeper(0)), [dead]).verify()


def test_one_that_is_too_slow_is_named() -> None:
    company = Company(flow(0, Sleeper(0)), [flow(1, Sleeper(60))])
    with pytest.raises(TimeoutError, match=r"flow 1, arm-1, beside it: not loaded within 0\.3 s"):
        company.run(0.3, lambda: None)
    company.kill()
    company = Company(flow(0, Sleeper(60)), [flow(1, Sleeper(0))])
    with pytest.raises(TimeoutError, match=r"^not loaded within 0\.3 s"):
        company.run(0.3, lambda: None)
    company.own.client.kill()


def test_an_arm_that_is_alone_has_no_flows() -> None:
    assert Company(flow(0, Sleeper(0)), []).describe() == {}
