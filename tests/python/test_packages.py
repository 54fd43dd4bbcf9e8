"""Packages: each has its tests in a folder of its name, and none imports itself by way of others."""

from __future__ import annotations

from graphlib import TopologicalSorter

from howquick.errors import ROOT
from imports import imported, modules

PACKAGES = sorted(file.parent.name for file in (ROOT / "scripts/howquick").glob("*/__init__.py"))


def package(module: str) -> str:
    """What a module is part of: a package, or by itself a room in the library."""
    return ".".join(module.split(".")[:2])


def test_each_package_has_a_folder_of_tests() -> None:
    tested = {file.parent.name for file in (ROOT / "tests/python").glob("*/test_*.py")}
    assert [name for name in PACKAGES if name not in tested] == []


def test_no_package_imports_itself_by_way_of_others() -> None:
    """Two rooms that need each other are one. What only a function imports does not count."""
    names = {path: package(module) for module, path in modules().items()}
    graph: dict[str, set[str]] = {}
    for path, name in names.items():
        needed = {names[other] for other in imported(path, at_start=True)}
        graph.setdefault(name, set()).update(needed - {name, "howquick"})
    assert len(list(TopologicalSorter(graph).static_order())) > len(PACKAGES)
