"""Make a synthetic trace of a rate that varies as a cellular link's may; nothing was measured for it.

The logarithm of the rate is a walk that is drawn back to its mean (an Ornstein-Uhlenbeck process, one step in
STEP_MS), with outages in between. It is scaled to the mean rate that is asked for, and each 1500 bytes of it
are an opportunity. The same seed gives the same trace.
"""

from __future__ import annotations

import argparse
import math
import random
from itertools import accumulate

from howquick.errors import UserError, run_program
from howquick.testbed.trace import OPPORTUNITY_BYTES

STEP_MS = 20
# After so long about a third of a deviation is left.
MEMORY_S = 1.5
# Standard deviation of the logarithm: two thirds of the time the rate is between a half and the double.
SPREAD = math.log(2)
OUTAGES_PER_MINUTE = 4
OUTAGE_S = (0.2, 1.2)


def rates(seconds: int, seed: int) -> list[float]:
    """The rate in each step, in any unit."""
    drawn = random.Random(seed)
    kept = math.exp(-STEP_MS / 1000 / MEMORY_S)
    state, outage_steps, found = 0.0, 0, []
    for _ in range(seconds * 1000 // STEP_MS):
        state = kept * state + SPREAD * math.sqrt(1 - kept * kept) * drawn.gauss(0, 1)
        if drawn.random() < OUTAGES_PER_MINUTE / 60 * STEP_MS / 1000:
            outage_steps = round(drawn.uniform(*OUTAGE_S) * 1000 / STEP_MS)
        found.append(0.0 if outage_steps else math.exp(state))
        outage_steps = max(0, outage_steps - 1)
    return found


def times_ms(seconds: int, mean_mbit: float, seed: int) -> list[int]:
    """The opportunities of a trace, milliseconds from its start; the last one is at its end.

    Raises UserError where there would be none.
    """
    count = round(seconds * mean_mbit * 1e6 / 8 / OPPORTUNITY_BYTES)
    if count < 1:
        raise UserError("--mean-mbit: there is not one opportunity in that time. Ask for more")
    carried = [0.0, *accumulate(rates(seconds, seed))]
    found, step = [], 0
    for number in range(1, count):
        due = carried[-1] * number / count
        while carried[step + 1] < due:
            step += 1
        share = (due - carried[step]) / (carried[step + 1] - carried[step])
        found.append(math.ceil((step + share) * STEP_MS))
    return [*found, seconds * 1000]


def main() -> None:
    """Prints it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=60, help="its length")
    parser.add_argument("--mean-mbit", type=float, default=4.0, help="its mean rate")
    parser.add_argument("--seed", type=int, required=True, help="which walk")
    asked = parser.parse_args()
    print("\n".join(map(str, times_ms(asked.seconds, asked.mean_mbit, asked.seed))))


if __name__ == "__main__":
    run_program(main)
