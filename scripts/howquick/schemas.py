"""Reading configuration: YAML files checked against JSON schemas, with messages that name the key."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import yaml
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError

from howquick.errors import ROOT, ConfigError
from howquick.files import read_json

SCHEMAS = ROOT / "config" / "schemas"
CONFIG_FILE = ROOT / "config" / "config.yaml"
MERGE = "tag:yaml.org,2002:merge"
ALTERNATIVES = ("anyOf", "oneOf")
FORMS = {
    "object": "a mapping of keys", "array": "a list", "string": "a text", "number": "a number",
    "integer": "a whole number", "boolean": "true or false", "null": "nothing",
}  # fmt: skip


# More than any study needs: what is beyond is a list that refers to itself, or to lists of lists of lists.
MOST_VALUES = 100_000
LONGEST_PROBLEM = 300


class _StrictLoader(yaml.CSafeLoader):
    """Refuses what YAML takes without a word: keys that come twice or are no texts, numbers that are none."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[Any] = set()
        for key_node, _ in node.value:
            if key_node.tag == MERGE:
                continue  # <<: what it brings may be overridden
            if not isinstance(key_node, yaml.ScalarNode):
                raise _refused("a key must be a text", key_node)
            key = self.construct_object(key_node, deep=True)
            if not isinstance(key, str):
                raise _refused(f"key {key!r} is no text: put it in quotes", key_node)
            if key in seen:
                raise _refused(f"key {key!r} appears twice", key_node)
            seen.add(key)
        return super().construct_mapping(node, deep)

    def finite(self, node: yaml.ScalarNode) -> float:
        """A number. Raises ConstructorError for .nan and .inf."""
        value = self.construct_yaml_float(node)
        if not math.isfinite(value):
            raise _refused(f"{node.value} is no number to work with", node)
        return float(value)


_StrictLoader.add_constructor("tag:yaml.org,2002:float", _StrictLoader.finite)


def _refused(problem: str, node: yaml.Node) -> yaml.constructor.ConstructorError:
    return yaml.constructor.ConstructorError(None, None, problem, node.start_mark)


def load_yaml(path: Path, schema: str) -> Any:
    """Read a YAML file and check it against `config/schemas/<schema>.schema.json`.

    Raises ConfigError for a missing file, broken YAML, or the first violation of the schema.
    """
    try:
        # In memory first: the parser would name a stream of characters, and not say where it is no text.
        text = path.read_bytes().decode()
        data = yaml.load(text, Loader=_StrictLoader)
        if _size(data, {}) > MOST_VALUES:
            raise ConfigError(
                path,
                "",
                f"more than {MOST_VALUES} values",
                "Write fewer, or fewer references (*name)",
            )
    except FileNotFoundError:
        raise ConfigError(path, "", "no such file", "Create it or correct the name") from None
    except UnicodeDecodeError as error:
        raise ConfigError(
            path, "", f"byte {error.start} is no UTF-8", "Save the file in UTF-8"
        ) from None
    except OSError as error:
        raise ConfigError(path, "", f"cannot be read ({error.strerror})", "Name a file") from None
    except yaml.YAMLError as error:
        raise ConfigError(
            path, "", f"not valid YAML ({_in_line(error)})", "Correct the syntax"
        ) from None
    # A date that no calendar has, a number of thousands of digits, a thousand brackets.
    except (ValueError, OverflowError, RecursionError) as error:
        problem = f"holds a value that cannot be read ({_in_line(error)})"
        raise ConfigError(path, "", problem, "Put texts in quotes, and correct the rest") from None
    check(data, schema, path)
    return data


def _in_line(text: object) -> str:
    """A text in one line, cut where it is long."""
    line = " ".join(str(text).split())
    return line if len(line) <= LONGEST_PROBLEM else f"{line[:LONGEST_PROBLEM]}…"


def _size(value: Any, known: dict[int, int]) -> int:
    """How many values there are when every reference is followed; MOST_VALUES and more for a ring."""
    if not isinstance(value, dict | list):
        return 1
    if id(value) not in known:
        known[id(value)] = MOST_VALUES  # as long as it is not known, which it stays in a ring
        inner = value.values() if isinstance(value, dict) else value
        known[id(value)] = 1 + sum(_size(one, known) for one in inner)
    return known[id(value)]


def check(data: Any, schema: str, path: Path) -> None:
    """Check `data` against a schema; raises ConfigError with file, key and remedy."""
    root = read_json(SCHEMAS / f"{schema}.schema.json")
    errors = sorted(
        Draft202012Validator(root).iter_errors(data), key=lambda e: list(map(str, e.absolute_path))
    )
    if errors:
        error = _meant(errors[0])
        key = ".".join(str(part) for part in error.absolute_path)
        problem = _in_line(_problem(error, root))
        raise ConfigError(path, _in_line(key), problem, _remedy(error, root, schema))


def _meant(error: ValidationError) -> ValidationError:
    """What to speak of where alternatives failed: the fault within the one that has the value's form.

    That is the alternatives' own error where none of them, or several, have that form.
    """
    while error.validator in ALTERNATIVES and error.context:
        branches: dict[Any, list[ValidationError]] = {}
        for cause in error.context:
            branches.setdefault(cause.relative_schema_path[0], []).append(cause)
        formed = [causes for causes in branches.values() if not any(map(_has_other_form, causes))]
        if len(formed) != 1 or _required_alternatives(error):
            return error
        error = max(formed[0], key=lambda cause: len(cause.absolute_path))
    return error


def _asked(error: ValidationError) -> Any:
    """What the schema says where it was not met."""
    return error.validator_value


def _given(error: ValidationError) -> Any:
    """The value that does not meet the schema."""
    return error.instance


def _has_other_form(cause: ValidationError) -> bool:
    """Whether a value is of another form than the alternative, rather than wrong within it."""
    return not cause.relative_path and cause.validator in ("type", "const", "enum")


def _required_alternatives(error: ValidationError) -> list[str]:
    """The keys of alternatives that differ in nothing but a key that must be there; else none."""
    names = []
    for alternative in _asked(error):
        if set(alternative) != {"required"} or len(alternative["required"]) != 1:
            return []
        names += alternative["required"]
    return names


def _missing(error: ValidationError) -> list[str]:
    """The keys that must be there, by themselves or beside another, and are not."""
    wanted, there = _asked(error), _given(error)
    if error.validator == "dependentRequired":
        wanted = [name for key, names in wanted.items() if key in there for name in names]
    return [name for name in dict.fromkeys(wanted) if name not in there]


def _problem(error: ValidationError, root: dict[str, Any]) -> str:
    if error.validator in ("required", "dependentRequired"):
        missing = [f"`{name}`" for name in _missing(error)]
        return f"{' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing"
    if error.validator in ALTERNATIVES:
        if names := _required_alternatives(error):
            given = [name for name in names if name in _given(error)]
            return f"has {' and '.join(given)}" if given else f"has none of {', '.join(names)}"
        return f"is {error.instance!r}, which is not {_either(_asked(error), root)}"
    if error.validator == "type":
        return f"is {error.instance!r}, which is not {_in_words(error.schema, root)}"
    return error.message


def _remedy(error: ValidationError, root: dict[str, Any], schema: str) -> str:
    if error.validator in ALTERNATIVES and (names := _required_alternatives(error)):
        many = "exactly one" if error.validator == "oneOf" else "at least one"
        return f"Give {many} of {', '.join(names)}"
    if error.validator in ("required", "dependentRequired") and isinstance(error.schema, dict):
        known = error.schema.get("properties", {})
        return "; ".join(
            f"Add `{name}`: {_in_words(known.get(name, {}), root)}" for name in _missing(error)
        )
    if error.validator == "additionalProperties" and isinstance(error.schema, dict):
        known = ", ".join(sorted(error.schema.get("properties", {})))
        return f"Known keys here: {known}"
    if isinstance(error.schema, dict) and "description" in error.schema:
        return f"Expected: {error.schema['description']}"
    return f"See config/schemas/{schema}.schema.json"


def _either(alternatives: list[dict[str, Any]], root: dict[str, Any]) -> str:
    return " or ".join(dict.fromkeys(_in_words(one, root) for one in alternatives))


def _in_words(schema: Any, root: dict[str, Any]) -> str:
    """What a schema allows, in some words: its description, its values, or its form."""
    if "$ref" in schema:
        found: Any = root
        for part in schema["$ref"].removeprefix("#/").split("/"):
            found = found[part]
        return _in_words({**found, **{k: v for k, v in schema.items() if k != "$ref"}}, root)
    if "const" in schema:
        return repr(schema["const"])
    if "description" in schema:
        return str(schema["description"])
    if "enum" in schema:
        return " or ".join(map(repr, schema["enum"]))
    for key in ALTERNATIVES:
        if key in schema:
            return _either(schema[key], root)
    forms = schema.get("type", [])
    text = " or ".join(FORMS[form] for form in ([forms] if isinstance(forms, str) else forms))
    if forms == "array" and "items" in schema:
        text += f", each {_in_words(schema['items'], root)}"
    return text or "what the schema asks for"
