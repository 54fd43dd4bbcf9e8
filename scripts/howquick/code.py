"""Hashes of code by what it does: comments, docstrings and formatting never change them."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from howquick.errors import ROOT

PYTHON = "*.py"


@cache
def code_hash(*names: str) -> str:
    """SHA-256 over the parsed Python code of files and folders, named relative to the checkout."""
    digest = hashlib.sha256()
    for file in sorted(_files(names)):
        digest.update(f"{file.relative_to(ROOT)}\0{_bare(file)}\0".encode())
    return digest.hexdigest()


def _files(names: Iterable[str]) -> set[Path]:
    """The Python files that names stand for, also by links. Raises FileNotFoundError for one without any."""
    found: set[Path] = set()
    for name in names:
        path = ROOT / name
        files = {path} if path.is_file() else set(path.rglob(PYTHON, recurse_symlinks=True))
        if not files:
            raise FileNotFoundError(f"{name}: no code there")
        found |= files
    return found


def _bare(file: Path) -> str:
    """The code of a file as Python itself would write it, without docstrings."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[:1]
            if (
                first
                and isinstance(first[0], ast.Expr)
                and isinstance(first[0].value, ast.Constant)
                and isinstance(first[0].value.value, str)
            ):
                node.body = node.body[1:]
    return ast.unparse(tree)
