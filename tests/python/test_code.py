"""Hashes of code: of what it does, by whatever release of Python."""

import pytest

from howquick import code


@pytest.fixture
def hash_of(tmp_path, monkeypatch):
    """The hash of a file with a text."""
    monkeypatch.setattr(code, "ROOT", tmp_path)

    def hash_(text, name="code.py"):
        (tmp_path / name).write_text(text)
        code.code_hash.cache_clear()
        return code.code_hash(name)

    yield hash_
    code.code_hash.cache_clear()


CODE = '''"""Words."""\n\ndef say(name: str | None = None) -> str:\n  return f"it's {name!r:>{8}}" + "a"\n'''


def test_what_counts_is_what_python_has_read(hash_of):
    again = CODE.replace("Words", "Others").replace("\n  return", "\n    # Why.\n    return (")
    assert hash_of(CODE) == hash_of(again.replace('"a"\n', "'a')\n"))
    assert hash_of(CODE) != hash_of(CODE.replace('"a"', '"b"'))
    assert hash_of(CODE) != hash_of(CODE.replace("= None", "= 0"))


def test_it_is_the_same_by_every_release_of_python(hash_of):
    """ast.unparse has changed how it quotes f-strings: 3.13.5 has others than 3.13.0."""
    expected = "e47a9dd7a5c68e2a6a5ee3281fed0919a05f7b64343eb3a167674943c5e0cce8"
    assert hash_of(CODE) == expected


def test_a_schema_counts_as_it_is_understood(hash_of):
    one = hash_of('{"type": "object", "required": ["a"]}', "a.json")
    assert hash_of('{"required": ["a"],\n "type": "object"}', "a.json") == one
    assert hash_of('{"required": ["b"], "type": "object"}', "a.json") != one


def test_a_name_without_code_is_refused(hash_of):
    hash_of(CODE)
    with pytest.raises(FileNotFoundError, match="absent"):
        code.code_hash("absent-*.json")
