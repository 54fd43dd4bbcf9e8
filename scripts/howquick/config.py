"""Reading configuration: YAML files checked against JSON schemas, with messages that name the key."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError

from howquick.errors import ROOT, ConfigError
from howquick.files import read_json

SCHEMAS = ROOT / "config" / "schemas"
MERGE = "tag:yaml.org,2002:merge"


class _UniqueKeyLoader(yaml.CSafeLoader):
    """Refuses a mapping that has the same key twice, which YAML would silently merge."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[Any] = set()
        for key_node, _ in node.value:
            if key_node.tag == MERGE:
                continue  # <<: what it brings may be overridden
            key = self.construct_object(key_node, deep=True)
            if key in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"key {key!r} appears twice", key_node.start_mark
                )
            seen.add(key)
        return super().construct_mapping(node, deep)


def load_yaml(path: Path, schema: str) -> Any:
    """Read a YAML file and check it against `config/schemas/<schema>.schema.json`.

    Raises ConfigError for a missing file, broken YAML, or the first violation of the schema.
    """
    try:
        with path.open(encoding="utf-8") as stream:
            data = yaml.load(stream, Loader=_UniqueKeyLoader)
    except FileNotFoundError:
        raise ConfigError(path, "", "no such file", "Create it or correct the name") from None
    except yaml.YAMLError as error:
        text = " ".join(str(error).split())
        raise ConfigError(path, "", f"not valid YAML ({text})", "Correct the syntax") from None
    check(data, schema, path)
    return data


def check(data: Any, schema: str, path: Path) -> None:
    """Check `data` against a schema; raises ConfigError with file, key and remedy."""
    validator = Draft202012Validator(read_json(SCHEMAS / f"{schema}.schema.json"))
    errors = sorted(validator.iter_errors(data), key=lambda e: list(map(str, e.absolute_path)))
    if errors:
        error = _deepest(errors[0])
        key = ".".join(str(part) for part in error.absolute_path)
        raise ConfigError(path, key, _problem(error), _remedy(error, schema))


def _deepest(error: ValidationError) -> ValidationError:
    """The sub-error of an anyOf/oneOf that got furthest, which is the one the user meant."""
    while error.context:
        error = max(error.context, key=lambda e: len(e.absolute_path))
    return error


def _problem(error: ValidationError) -> str:
    return error.message.replace("\n", " ")


def _remedy(error: ValidationError, schema: str) -> str:
    if error.validator == "additionalProperties" and isinstance(error.schema, dict):
        known = ", ".join(sorted(error.schema.get("properties", {})))
        return f"Known keys here: {known}"
    if isinstance(error.schema, dict) and "description" in error.schema:
        return f"Expected: {error.schema['description']}"
    return f"See config/schemas/{schema}.schema.json"
