"""Every envs/*/endpoint.yaml keeps to config/schemas/endpoint.schema.json, and the schema is strict."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from typing import Any

import jsonschema
import pytest

from programs.endpoint_runner import REPOSITORY, endpoint_names, load_endpoint

SCHEMA = json.loads((REPOSITORY / "config/schemas/endpoint.schema.json").read_text())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


def subschemas(schema: dict[str, Any], where: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every schema that describes a value, with its place."""
    yield where, schema
    for name, part in {**schema.get("properties", {}), **schema.get("$defs", {})}.items():
        yield from subschemas(part, f"{where}/{name}")
    for key in ("items", "additionalProperties", "propertyNames"):
        if isinstance(schema.get(key), dict):
            yield from subschemas(schema[key], f"{where}/{key}")


@pytest.mark.parametrize("name", endpoint_names())
def test_endpoint_is_valid(name: str) -> None:
    definition = load_endpoint(name).definition
    VALIDATOR.validate(definition)
    assert definition["name"] == name
    for role in ("server", "client"):
        for part in definition.get(role, {}).get("command", []):
            if part.startswith("{env}/"):
                assert (load_endpoint(name).folder / part.removeprefix("{env}/")).is_file()


def test_schema_is_a_schema_and_describes_everything() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    for where, schema in subschemas(SCHEMA):
        assert schema.get("description"), f"no description at {where}"
        if "properties" in schema:
            assert schema["additionalProperties"] is False, f"unknown keys allowed at {where}"


def _set(path: str, value: Any) -> Callable[[dict[str, Any]], None]:
    *parents, last = path.split(".")

    def change(definition: dict[str, Any]) -> None:
        for parent in parents:
            definition = definition[parent]
        definition[last] = value

    return change


@pytest.mark.parametrize(
    "change",
    [
        _set("colour", "green"),
        _set("server.colour", "green"),
        _set("server.protocols.h1.colour", "green"),
        _set("server.protocols.gopher", {}),
        _set("server.protocols.h1.transport", "udp"),
        _set("server.protocols.h1.connection", ["warm"]),
        _set("server.protocols.h1.congestion_control", []),
        _set("server.command", "nginx -g 'daemon off;'"),
        _set("server.stop_signal", "SIGSTOP"),
        _set("server.qlog", "no"),
        _set("options", {"window": {"default": 1}}),
        _set("options", {"Window": {"default": 1, "description": "x"}}),
        _set("max_rate_mbit", 0),
        _set("name", "Ngin X"),
        lambda definition: definition.pop("server"),
        lambda definition: definition.pop("licence"),
    ],
)
def test_mistakes_are_refused(change: Callable[[dict[str, Any]], None]) -> None:
    definition = copy.deepcopy(load_endpoint("nginx").definition)
    change(definition)
    with pytest.raises(jsonschema.ValidationError):
        VALIDATOR.validate(definition)
