"""What programs in Python share of docs/formats.md, section 2: linked into their folders as `contract`."""

from .environment import Environment, NotSupported, Refusal
from .program import refuse, run
from .settings import Ability, Load, Settings, read_load, read_settings

__all__ = [
    "Ability",
    "Environment",
    "Load",
    "NotSupported",
    "Refusal",
    "Settings",
    "read_load",
    "read_settings",
    "refuse",
    "run",
]
