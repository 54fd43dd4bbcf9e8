"""How urgent the client calls the objects of its page: option urgency of docs/formats.md, section 2."""

from contract import Environment

# RFC 9218, section 4.1: the least urgent of eight classes, of which 0 is the most urgent.
LEAST_URGENT = 7


def read_urgency(env: Environment) -> str:
    """Return the word of the option, which both roles are told. Raises NotSupported for another one."""
    return env.option_supported("urgency", ("none", "order", "reverse", "incremental"))


def priority_of(urgency: str, index: int, count: int) -> str | None:
    """Return the header field `priority` of request `index` of `count`, the HTML being the first; None: none.

    The HTML has the most urgent class for itself; its objects share the others.
    """
    if urgency == "none":
        return None
    if urgency == "incremental":
        return "u=3, i"
    if index == 0:
        return "u=0"
    before = count - 1 - index if urgency == "reverse" else index - 1
    return f"u={1 + before * LEAST_URGENT // (count - 1)}"
