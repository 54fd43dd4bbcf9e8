"""Variables of the environment, checked and typed; each refusal names its variable."""

from collections.abc import Collection, Mapping

OPTION = "OPTION_"
TRUTH = {"true": True, "false": False}


class Refusal(Exception):
    """What was asked for is wrong, whoever is asked: the program ends with `status`."""

    status = 1


class NotSupported(Refusal):
    """What was asked for is not among the things that this program can do."""

    status = 127


class Environment:
    """The variables that a program was started with. Every method but `optional` may raise Refusal."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        self._variables = variables
        self._options: set[str] = set()

    def text(self, name: str) -> str:
        """Return a variable that must be set."""
        value = self.optional(name)
        if value is None:
            raise Refusal(f"{name} is not set (docs/formats.md, section 2)")
        return value

    def optional(self, name: str) -> str | None:
        """Return a variable, or None where it is absent or empty."""
        return self._variables.get(name) or None

    def supported(self, name: str, known: Collection[str], otherwise: str | None = None) -> str:
        """Return one word out of those that the program knows; `otherwise` where it may be absent."""
        value = self.text(name) if otherwise is None else self.optional(name) or otherwise
        if value not in known:
            raise NotSupported(f"{name} {value} is not supported; use {' or '.join(known)}")
        return value

    def number(self, name: str, low: int, high: int, otherwise: int | None = None) -> int:
        """Return a whole number from `low` to `high`; `otherwise` where it may be absent."""
        value = self.optional(name)
        if value is None and otherwise is not None:
            return otherwise
        value = self.text(name)
        # No sign but minus, no blanks, no underscores: what int() takes besides, other languages refuse.
        if not (
            value.isascii() and value.removeprefix("-").isdigit() and low <= int(value) <= high
        ):
            raise Refusal(f"{name} {value}: use a whole number from {low} to {high}")
        return int(value)

    def option(self, name: str) -> str:
        """Return the text of an option, by its name in endpoint.yaml."""
        self._options.add(variable := f"{OPTION}{name.upper()}")
        return self.text(variable)

    def option_supported(self, name: str, known: Collection[str]) -> str:
        """Return an option that is one word out of those that the program knows."""
        self.option(name)
        return self.supported(f"{OPTION}{name.upper()}", known)

    def option_number(self, name: str, low: int, high: int) -> int:
        """Return an option that is a whole number."""
        self.option(name)
        return self.number(f"{OPTION}{name.upper()}", low, high)

    def option_switch(self, name: str) -> bool:
        """Return an option that is true or false, in any case: Python writes True, YAML true."""
        word = self.option(name)
        if word.lower() not in TRUTH:
            raise Refusal(f"{OPTION}{name.upper()} {word}: use true or false")
        return TRUTH[word.lower()]

    def check_options(self, *further: str) -> None:
        """Raise NotSupported for an option that was given and that nobody has asked for by now.

        ``further`` are names in endpoint.yaml of options that may be absent.
        """
        known = self._options | {f"{OPTION}{name.upper()}" for name in further}
        for name in self._variables:
            if name.startswith(OPTION) and name not in known:
                raise NotSupported(f"{name} is not supported: there is no such option")
