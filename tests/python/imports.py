"""Which modules of the project import which, read from their texts."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from howquick.errors import ROOT

SCRIPTS = ROOT / "scripts"


def _module(path: Path) -> str:
    parts = path.relative_to(SCRIPTS).with_suffix("").parts
    return ".".join(parts[:-1] if path.name == "__init__.py" else parts)


@cache
def modules() -> dict[str, Path]:
    """All modules of scripts/ with their files."""
    return {_module(path): path for path in sorted(SCRIPTS.rglob("*.py"))}


def _statements(tree: ast.Module, at_start: bool) -> Iterator[ast.stmt]:
    """Imports of a module; at_start: those alone that run when it is imported, and not for types only."""
    if not at_start:
        yield from (
            node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)
        )
        return
    wanted: list[ast.AST] = list(tree.body)
    while wanted:
        node = wanted.pop()
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node
        elif isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            wanted += node.orelse
        elif not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            wanted += ast.iter_child_nodes(node)


@cache
def imported(path: Path, at_start: bool = False) -> frozenset[Path]:
    """The files of the project that a file imports by itself, the packages' own among them."""
    names: list[str] = []
    for node in _statements(ast.parse(path.read_text(encoding="utf-8")), at_start):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names += [f"{node.module}.{alias.name}" for alias in node.names]
    found = set()
    for name in names:
        parts = name.split(".")
        starts = (".".join(parts[:count]) for count in range(1, len(parts) + 1))
        found |= {modules()[start] for start in starts if start in modules()}
    return frozenset(found - {path})


def closure(*programs: str) -> set[Path]:
    """The files that programs of scripts/ consist of, themselves among them."""
    wanted = [SCRIPTS / program for program in programs]
    found: set[Path] = set()
    while wanted:
        path = wanted.pop()
        if path not in found:
            found.add(path)
            wanted += imported(path)
    return found
