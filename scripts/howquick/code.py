"""Hashes of code and of schemas by what they do: comments, docstrings and formatting never change them."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from howquick.errors import ROOT
from howquick.files import canonical_hash, read_json

PYTHON = "*.py"


@cache
def code_hash(*names: str) -> str:
    """SHA-256 over files as they are understood, and over the Python of folders.

    names: relative to the checkout; `*` stands for any characters.
    """
    digest = hashlib.sha256()
    for file in sorted(covered_files(names)):
        meant = _bare(file) if file.match(PYTHON) else canonical_hash(read_json(file))
        digest.update(f"{file.relative_to(ROOT)}\0{meant}\0".encode())
    return digest.hexdigest()


def covered_files(names: Iterable[str]) -> set[Path]:
    """The files that names stand for, also by links. Raises FileNotFoundError for a name without any."""
    found: set[Path] = set()
    for name in names:
        files: set[Path] = set()
        for path in ROOT.glob(name):
            files |= {path} if path.is_file() else set(path.rglob(PYTHON, recurse_symlinks=True))
        if not files:
            raise FileNotFoundError(f"{name}: no code there")
        found |= files
    return found


def _bare(file: Path) -> str:
    """The parsed code of a file, without docstrings."""
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
    return _written(tree)


def _written(node: object) -> str:
    """A node with all that is below it.

    Not as ast.unparse or ast.dump write it: what they choose differs from one release of Python to the next.
    Empty fields are left out, since later versions have more of them, and `kind`, the u before a string.
    """
    if isinstance(node, list):
        return f"[{','.join(map(_written, node))}]"
    if not isinstance(node, ast.AST):
        return repr(node)
    fields = [
        f"{name}={_written(value)}"
        for name, value in ast.iter_fields(node)
        if value is not None and value != [] and name != "kind"
    ]
    return f"{type(node).__name__}({','.join(fields)})"
