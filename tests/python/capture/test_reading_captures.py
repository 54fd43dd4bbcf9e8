"""The display filters that the documentation recommends exist."""

from __future__ import annotations

import re

import pytest

from capture.recordings import Recording, tshark
from howquick.schemas import ROOT

TEXT = (ROOT / "docs" / "reading-captures.md").read_text()
TABLE = TEXT.split("| filter | shows |")[1].split("\n\n")[0]
FILTERS = re.findall(r"`([^`]+)`", "".join(line.split("|")[1] for line in TABLE.splitlines()[2:]))


def test_there_are_some() -> None:
    assert len(FILTERS) >= 8


@pytest.mark.parametrize("shown", FILTERS)
def test_filter(recorded: Recording, shown: str) -> None:
    # An unknown field makes tshark fail; these fit no packet of a cold load.
    nothing = shown in ("tls.handshake.extension.type == 41", "quic.long.packet_type == 1")
    found = [tshark(recorded.pcapng(name, "client"), "-Y", shown) for name in ("h1", "h2", "h3")]
    assert (not any(found)) == nothing
