"""The errors a user can do something about."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


class UserError(Exception):
    """A problem the user can mend; its text names file, key and remedy and is shown without a traceback."""


class DamagedFile(UserError):
    """A file of the workflow's own holds something else than was written."""


class ConfigError(UserError):
    """A configuration file says something that cannot be done."""

    def __init__(self, file: str | os.PathLike[str], key: str, problem: str, remedy: str) -> None:
        name = os.fspath(file)
        if Path(name).is_relative_to(ROOT):
            name = str(Path(name).relative_to(ROOT))  # as a user of the checkout would type it
        where = f"{name}: {key}: " if key else f"{name}: "
        super().__init__(f"{where}{problem}. {remedy}")


def run_program(main: Callable[[], int | None]) -> None:
    """Run a command-line program: `UserError` and a full disk become one line and exit status 1."""
    try:
        status = main() or 0
    except UserError as error:
        print(f"howquick: {error}", file=sys.stderr)
        status = 1
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES):
            raise
        print(
            f"howquick: {error.filename or 'results'}: {error.strerror}. Make room there (or make it "
            "writable) and run the same command again; finished repetitions are kept.",
            file=sys.stderr,
        )
        status = 1
    except KeyboardInterrupt:
        print("howquick: interrupted; the same command continues.", file=sys.stderr)
        status = 130
    sys.stdout.flush()
    sys.exit(status)
