"""How the head process asks SLURM: patiently, at a steady pace, and not for ever."""

from types import SimpleNamespace

from howquick.errors import UserError
from howquick.workflow import slurm_plugin
from howquick.workflow.slurm_plugin import AWAY_S, FORGOTTEN_S, Missing


class Clock:
    """A clock that a test sets, in place of the module's `time`."""

    def __init__(self, monkeypatch):
        self.now, self.slept = 1000.0, []
        monkeypatch.setattr(slurm_plugin, "time", self)

    def monotonic(self):
        return self.now

    def sleep(self, seconds):
        self.slept.append(seconds)
        self.now += seconds


def unanswered():
    raise UserError("no controller")


def test_a_job_is_forgotten_when_nobody_has_known_it_for_long(monkeypatch):
    clock, known = Clock(monkeypatch), ["3"]
    missing = Missing(lambda: known)
    missing.sent = {"1", "2", "3"}
    assert missing.for_good({"1"}) == set()
    clock.now += FORGOTTEN_S / 2
    # It is back: its time begins anew.
    assert missing.for_good({"1", "2"}) == set()
    clock.now += FORGOTTEN_S / 2
    assert missing.for_good({"1"}) == set()  # 3 is long missing, and the controller knows it
    clock.now += FORGOTTEN_S
    assert missing.for_good({"1"}) == {"2"}
    missing.sent = {"1"}
    assert missing.for_good({"1"}) == set()


def test_without_a_controller_nothing_is_forgotten(monkeypatch):
    clock = Clock(monkeypatch)
    missing = Missing(unanswered)
    missing.sent = {"1"}
    missing.for_good(set())
    clock.now += 2 * FORGOTTEN_S
    assert missing.for_good(set()) == set()


def test_a_job_waits_for_a_controller_and_not_for_ever(monkeypatch):
    clock, sent, answers = Clock(monkeypatch), [], [UserError("away"), UserError("away"), None]

    def known():
        if answer := answers.pop(0):
            raise answer
        return []

    executor = SimpleNamespace(run_job=sent.append)
    slurm_plugin._mend_sending(executor, known)
    executor.run_job("job")
    assert sent == ["job"] and len(clock.slept) == 2
    executor = SimpleNamespace(run_job=sent.append)
    slurm_plugin._mend_sending(executor, unanswered)
    executor.run_job("late")
    assert sent == ["job", "late"]
    assert AWAY_S <= sum(clock.slept) < 2 * AWAY_S
