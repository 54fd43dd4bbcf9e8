"""Tables in Markdown, and parts of pages that are written by a program."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from howquick.errors import UserError

BEGIN = "<!-- {part}: written by scripts/write_documents.py -->"
END = "<!-- end of {part} -->"


def table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table; a vertical bar inside a cell is escaped. Ends with a line feed."""
    lines = [header, ["---"] * len(header), *rows]
    return "".join(f"| {' | '.join(_cell(value) for value in line)} |\n" for line in lines)


def _cell(value: object) -> str:
    return " ".join(str(value).split()).replace("|", "\\|")


def replace_part(text: str, part: str, content: str) -> str:
    """The page with `content` between the two comments that name `part`. Raises UserError without them."""
    begin, end = BEGIN.format(part=part), END.format(part=part)
    before, found, rest = text.partition(begin)
    _, closed, after = rest.partition(end)
    if not found or not closed:
        raise UserError(f"no place for {part!r}. Write {begin!r} and {end!r} where it belongs.")
    return f"{before}{begin}\n\n{content}\n{end}{after}"
