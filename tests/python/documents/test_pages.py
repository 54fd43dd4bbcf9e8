"""The pages are short, lead somewhere, and name what is there."""

from __future__ import annotations

import json
import re
import subprocess
from functools import cache
from pathlib import Path

import pytest
import yaml

from howquick.errors import ROOT
from howquick.schemas import check

LISTED = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"]
README_LINES = 90
CELL_CHARACTERS = 200
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^()\s]+)\)")


def pages() -> list[str]:
    """Every page of the project that is a document: the artifact's is a template."""
    done = subprocess.run(LISTED, cwd=ROOT, capture_output=True, text=True, check=False)
    # An unpacked archive has no history.
    found = done.stdout.split() or [
        str(file.relative_to(ROOT)) for file in (*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"))
    ]
    return sorted(name for name in found if (ROOT / name).is_file() and "archive" not in name)


PAGES = pages()


def prose(page: Path) -> str:
    return FENCE.sub("", page.read_text(encoding="utf-8"))


def anchors(page: Path) -> set[str]:
    """What headings are called in addresses, as GitHub makes them."""
    titles = re.findall(r"^#+ (.*)$", prose(page), re.MULTILINE)
    plain = (re.sub(r"[^\w\- ]", "", title.lower()) for title in titles)
    return {title.replace(" ", "-") for title in plain}


def links(page: str) -> list[str]:
    found = LINK.findall(prose(ROOT / page))
    return [link for link in found if not re.match(r"[a-z]+:", link)]


def test_there_are_pages_and_links() -> None:
    assert {"README.md", "docs/architecture.md", "docs/recipes.md"} <= set(PAGES)
    assert sum(len(links(page)) for page in PAGES) > 50


def test_readme_is_short_and_has_one_picture() -> None:
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    assert len(lines) <= README_LINES
    assert sum(line.startswith("![") for line in lines) == 1


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page: str) -> None:
    for link in links(page):
        path, _, anchor = link.partition("#")
        target = (ROOT / page).parent / path if path else ROOT / page
        assert target.exists(), f"{page}: no {link}"
        if anchor:
            assert anchor in anchors(target), f"{page}: {link}: {sorted(anchors(target))}"


def test_every_page_of_docs_is_found_from_the_readme() -> None:
    shown = {Path("docs", link.partition("#")[0]).name for link in links("README.md")}
    assert {file.name for file in (ROOT / "docs").glob("*.md")} <= shown


def tables(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("|")]


@pytest.mark.parametrize("page", PAGES)
def test_no_essay_in_a_cell_of_a_table(page: str) -> None:
    cells = [cell for line in tables(prose(ROOT / page)) for cell in line.split(" | ")]
    assert [cell for cell in cells if len(cell) > CELL_CHARACTERS] == []


# Commands of the pages. What they name is asked of the files that define it.


@cache
def commands() -> list[tuple[str, str]]:
    """Every command of the pages in code, as (page, command)."""
    found = []
    for page in PAGES:
        text = (ROOT / page).read_text(encoding="utf-8")
        spans = re.findall(r"`([^`\n]+)`", FENCE.sub("", text))
        spans += [line.strip().split("  #")[0] for line in text.splitlines() if line[:4] == "    "]
        found += [(page, span) for span in spans]
    return found


def words_after(start: str) -> list[tuple[str, list[str]]]:
    pattern = re.compile(rf"^(?:(?:[A-Z_]+=\S+|\./enter|sudo) )*{start} (.*)$")
    return [
        (page, match[1].split())
        for page, command in commands()
        if (match := pattern.match(command))
    ]


def targets() -> set[str]:
    """Names of rules, and of studies as targets."""
    files = [ROOT / "Snakefile", *(ROOT / "rules").glob("*.smk")]
    rules = {name for file in files for name in re.findall(r"^rule (\w+):", file.read_text(), re.M)}
    studies = {file.stem.replace("-", "_") for file in (ROOT / "config/studies").glob("*.yaml")}
    return rules | studies


def outputs() -> list[re.Pattern[str]]:
    """Files and folders that rules make, as patterns."""
    found = []
    for file in (ROOT / "rules").glob("*.smk"):
        for path in re.findall(r'f"\{RESULTS\}/([^"]+)"', file.read_text()):
            parts = [re.escape(part) for part in re.split(r"\{\{\w+\}\}", path)]
            found.append(re.compile("results/" + r"[\w.+-]+".join(parts)))
    return found


def test_recipes_are_seen() -> None:
    assert len([page for page, _ in words_after("snakemake") if page == "docs/recipes.md"]) > 20


def test_snakemake_is_asked_for_what_there_is() -> None:
    known, made = targets(), outputs()
    options = {"--workflow-profile", "--configfile", "--config", "--set-resources"}
    for page, words in words_after("snakemake"):
        key = previous = ""
        for word in words:
            if word in options or word.startswith("-"):
                key = "--config" if word == "--config" else ""
            elif key and "=" in word:
                check_setting(page, *word.split("=", 1))
            elif previous not in options:
                fits = word in known or any(pattern.fullmatch(word) for pattern in made)
                assert fits, f"{page}: {' '.join(words)}: no target {word}"
            previous = word


def check_setting(page: str, key: str, value: str) -> None:
    schema = json.loads((ROOT / "config/schemas/config.schema.json").read_text())
    assert key in schema["properties"], f"{page}: config/config.yaml has no {key}"
    allowed = schema["properties"][key].get("enum")
    assert not allowed or value in allowed, f"{page}: {key}={value}"


def program_calls() -> list[tuple[str, str, str]]:
    """Programs of the project that the pages start, with the first word after them."""
    pattern = re.compile(r"(?:^| )(?:python3?|Rscript) ([\w/-]+\.(?:py|R))(?: (\S+))?")
    return sorted(
        {(page, m[1], m[2] or "") for page, text in commands() for m in pattern.finditer(text)}
    )


@pytest.mark.parametrize(("page", "program", "word"), program_calls())
def test_programs_and_their_commands_exist(page: str, program: str, word: str) -> None:
    file = ROOT / program
    assert file.is_file(), f"{page}: no {program}"
    source = file.read_text(encoding="utf-8")
    if "add_subparsers" in source and word:
        assert f'"{word}"' in source, f"{page}: {program} has no command {word}"


def test_options_of_programs_exist() -> None:
    pattern = re.compile(r"(?:python3?|Rscript) ([\w/-]+\.(?:py|R)) (.*)")
    seen = 0
    for page, command in commands():
        if not (match := pattern.search(command)):
            continue
        source = (ROOT / match[1]).read_text(encoding="utf-8")
        for option in re.findall(r"--([a-z][a-z-]*)", match[2]):
            seen += 1
            named = re.search(rf'"(--)?{option}"', source)
            assert named, f"{page}: {match[1]} has no option --{option}"
    assert seen > 10


def test_the_walk_through_of_a_study_is_a_whole_study() -> None:
    text = (ROOT / "docs/adding-a-study.md").read_text(encoding="utf-8")
    parts = re.findall(r"^```yaml\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    # Another study's `cells` is shown for comparison.
    whole = yaml.safe_load("".join(part for part in parts if not part.startswith("cells:")))
    check(whole, "study", ROOT / "docs/adding-a-study.md")


def test_kinds_and_keys_of_figures_are_documented() -> None:
    schema = json.loads((ROOT / "config/schemas/study.schema.json").read_text())
    figure = schema["$defs"]["figure"]["properties"]
    section = (ROOT / "docs/formats.md").read_text(encoding="utf-8").split("\n## 8.")[1]
    documented = set(re.findall(r"`([a-z_]+)`", section.split("\n## ")[0]))
    assert set(figure["kind"]["enum"]) <= documented
    # It is drawn by nothing.
    assert set(figure) - {"y"} <= documented


def test_every_package_and_folder_is_on_the_map() -> None:
    architecture = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    packages = {file.parent.name for file in (ROOT / "scripts/howquick").glob("*/__init__.py")}
    assert {name for name in packages if f"{name}/`" not in architecture} == set()
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    layout = readme.split("## Layout")[1].split("\n## ")[0]
    hidden = {"build", "node_modules"}
    folders = {
        folder.name for folder in ROOT.iterdir() if folder.is_dir() and folder.name[0] != "."
    }
    assert {name for name in folders - hidden if f"{name}/" not in layout} == set()


def named_files() -> list[tuple[str, str]]:
    """Files and folders of the checkout that the pages name in code; words in capitals stand for others."""
    tops = "|".join(sorted(f.name for f in ROOT.iterdir() if f.is_dir() and f.name != "results"))
    pattern = re.compile(rf"(?:{tops.replace('.', '[.]')})/[\w./-]*")
    return sorted(
        {
            (page, text)
            for page, text in commands()
            if pattern.fullmatch(text) and not re.search(r"[A-Z]{3,}", text)
        }
    )


@pytest.mark.parametrize(("page", "name"), named_files())
def test_files_that_pages_name_exist(page: str, name: str) -> None:
    assert (ROOT / name).exists(), f"{page}: no {name}"
