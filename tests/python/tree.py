"""A tree of tests of its own, with what all the project's tests have in common."""

import shutil
import subprocess
import sys

from howquick.errors import ROOT


def run_tests(folder, files, *arguments):
    """What pytest says of files, given by their paths in the folder and their texts."""
    for name in ("conftest.py", "turns.py"):
        shutil.copy(ROOT / "tests" / name, folder)
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    options = ["-p", "no:cacheprovider", "-o", f"pythonpath={ROOT / 'scripts'}"]
    command = [sys.executable, "-m", "pytest", *options, folder, *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
