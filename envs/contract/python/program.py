"""From `main` to an exit status."""

import sys
from collections.abc import Callable
from typing import NoReturn

from .environment import Refusal


def refuse(program: str, status: int, reason: str) -> NoReturn:
    """Print one line that says why this does not work, and end with `status`."""
    print(f"{program}: {'; '.join(reason.splitlines())}", file=sys.stderr, flush=True)
    sys.exit(status)


def run(program: str, main: Callable[[], int | None]) -> NoReturn:
    """Run `main` and end with its status; a Refusal and an OSError end with one line on stderr."""
    try:
        sys.exit(main())
    except Refusal as problem:
        refuse(program, problem.status, str(problem))
    except OSError as problem:
        refuse(program, 1, str(problem))
