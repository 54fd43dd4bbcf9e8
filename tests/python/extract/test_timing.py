"""timing.json: what is accepted, and that each refusal names the key."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from howquick.files import read_json
from howquick.schemas import SCHEMAS
from howquick.timing import TimingError, read_timing

SCHEMA = Draft202012Validator(read_json(SCHEMAS / "timing.schema.json"))


def example() -> dict[str, Any]:
    return {
        "protocol": "h3", "start": 1790000000.123456, "handshake_s": 0.0191, "resumed": False,
        "early_data": False, "connections": 1,
        "objects": [
            {"path": "/index.html", "status": 200, "bytes": 3121, "sha256": "00",
             "start_s": 0.0, "first_byte_s": 0.04, "end_s": 0.041},
            {"path": "/1.bin", "status": 200, "bytes": 10, "sha256": "00",
             "start_s": 0.041, "first_byte_s": None, "end_s": 0.5},
        ],
    }  # fmt: skip


def write(folder: Path, value: Any) -> Path:
    path = folder / "timing.json"
    path.write_text(value if isinstance(value, str) else json.dumps(value))
    return path


def test_read(tmp_path: Path) -> None:
    timing = read_timing(write(tmp_path, example()))
    assert timing.plt_s == 0.5
    assert timing.body_bytes == 3131
    assert timing.handshake_s == 0.0191
    assert timing.objects[1].first_byte_s is None
    assert abs(timing.start_ns - 1790000000123456000) < 1000
    assert timing.end_ns - timing.start_ns == 500_000_000


def test_a_load_takes_time(tmp_path: Path) -> None:
    value = example()
    for entry in value["objects"]:
        entry |= {"start_s": 0.0, "first_byte_s": 0.0, "end_s": 0.0}
    with pytest.raises(TimingError, match="every end_s is 0"):
        read_timing(write(tmp_path, value))


def test_unknown_is_none(tmp_path: Path) -> None:
    value = example()
    for key in ("handshake_s", "resumed", "early_data", "connections"):
        value[key] = None
    timing = read_timing(write(tmp_path, value))
    assert timing.handshake_s is timing.resumed is timing.early_data is timing.connections is None


@pytest.mark.parametrize(
    ("keys", "value", "message"),
    [
        (["protocol"], "", r"protocol: must be a text, is \"\""),
        (["start"], None, "start: must be a number of seconds"),
        (["start"], "now", "start: must be a number of seconds"),
        (["start"], True, "start: must be a number of seconds"),
        (["start"], float("nan"), "start: must be a number of seconds"),
        (["handshake_s"], -0.1, "handshake_s: must be a number of seconds"),
        (["resumed"], 1, "resumed: must be true or false"),
        (["connections"], 1.5, "connections: must be a whole number"),
        (["objects"], [], "objects: must be a list with at least one"),
        (["objects"], {}, "objects: must be a list"),
        (["objects", 1], 7, r"objects\[1\]: must be an object"),
        (["objects", 1, "end_s"], None, r"objects\[1\]\.end_s: must be a number"),
        (["objects", 1, "end_s"], float("inf"), r"objects\[1\]\.end_s: must be a number"),
        (["objects", 1, "bytes"], -1, r"objects\[1\]\.bytes: must be a whole number"),
        (["objects", 0, "path"], 5, r"objects\[0\]\.path: must be a text"),
        (["objects", 0, "start_s"], 0.6, r"objects\[0\]\.start_s: 0\.6 is later than end_s"),
    ],
)
def test_refused(tmp_path: Path, keys: list[Any], value: Any, message: str) -> None:
    changed = example()
    place: Any = changed
    for key in keys[:-1]:
        place = place[key]
    place[keys[-1]] = value
    with pytest.raises(TimingError, match=r"timing\.json: " + message):
        read_timing(write(tmp_path, changed))


@pytest.mark.parametrize("text", ["", "{", "[1, 2]", "null", '"text"', "\x00"])
def test_no_timing(tmp_path: Path, text: str) -> None:
    with pytest.raises(TimingError, match=r"timing\.json"):
        read_timing(write(tmp_path, text))
    with pytest.raises(TimingError, match="is missing"):
        read_timing(tmp_path / "other" / "timing.json")


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)


@settings(
    max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(JSON, st.sampled_from([*example(), None]), st.sampled_from([*example()["objects"][0]]))
def test_any_json_is_read_or_refused(
    tmp_path: Path, junk: Any, key: str | None, inner: str
) -> None:
    value = example()
    if key is None:
        value["objects"][1][inner] = junk
    else:
        value[key] = junk
    valid = SCHEMA.is_valid(value)
    # To a schema 1.0 is whole, and NaN, which no JSON has, is in every range.
    blurred = isinstance(junk, float) and (not math.isfinite(junk) or junk.is_integer())
    try:
        timing = read_timing(write(tmp_path, value))
    except TimingError as error:
        assert str(error).startswith("timing.json")
        # What no schema says: an order of times, characters that exist, and that a load takes time.
        beyond = any(word in str(error) for word in ("later than", "exist", "takes"))
        assert not valid or blurred or beyond
    else:
        assert timing.plt_s > 0 and valid


@pytest.mark.parametrize("key", ["protocol", "start", "objects"])
def test_the_schema_and_the_reader_want_the_same_keys(tmp_path: Path, key: str) -> None:
    value = example()
    assert SCHEMA.is_valid(value)
    del value[key]
    assert not SCHEMA.is_valid(value)
    with pytest.raises(TimingError, match=key):
        read_timing(write(tmp_path, value))
