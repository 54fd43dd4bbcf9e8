"""Bodies and times out of nghttp's mixed output: random frames, hostile bytes, broken output."""

from __future__ import annotations

import hashlib
import importlib.util
import random
import sys
from types import ModuleType

import pytest

from programs.endpoint_runner import REPOSITORY

STATISTICS = (
    b"***** Statistics *****\n\nid  responseEnd requestStart  process code size request path\n"
)


def _load() -> ModuleType:
    path = REPOSITORY / "envs/nghttp2/transcript.py"
    # The contract that programs in Python share is linked beside it.
    sys.path.insert(0, str(path.parent))
    specification = importlib.util.spec_from_file_location("nghttp_transcript", path)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    sys.modules[specification.name] = module
    specification.loader.exec_module(module)
    sys.path.remove(str(path.parent))
    return module


transcript = _load()


def data_record(stream: int, length: int, *, end: bool) -> bytes:
    tail = b"          ; END_STREAM\n" if end else b""
    return b"[  0.123] recv DATA frame <length=%d, flags=0x%02x, stream_id=%d>\n%s" % (
        length,
        end,
        stream,
        tail,
    )


WINDOW_UPDATE = (
    b"[  1.004] send WINDOW_UPDATE frame <length=4, flags=0x00, stream_id=0>\n"
    b"          (window_size_increment=8388608)\n"
)


@pytest.mark.parametrize("seed", range(20))
def test_interleaved_streams_are_separated(seed: int) -> None:
    generator = random.Random(seed)
    # Newlines, brackets and spaces as often as other bytes: nothing but the records may end a body.
    alphabet = b"\n[ 0]ab\x00\xff"
    bodies = {
        stream: bytes(generator.choices(alphabet, k=generator.randrange(1, 5000)))
        for stream in (1, 3, 5, 7)
    }
    left = dict(bodies)
    output = b"[  0.001] Connected\nThe negotiated protocol: h2\n"
    while left:
        stream = generator.choice(list(left))
        size = generator.randrange(1, 700)
        piece, rest = left[stream][:size], left[stream][size:]
        cut = generator.randrange(len(piece) + 1)
        output += piece[:cut] + (WINDOW_UPDATE if generator.random() < 0.3 else b"") + piece[cut:]
        output += data_record(stream, len(piece), end=not rest)
        if rest:
            left[stream] = rest
        else:
            del left[stream]
    found = transcript.bodies(output + STATISTICS)
    assert {stream: body.sha256 for stream, body in found.items()} == {
        stream: hashlib.sha256(body).hexdigest() for stream, body in bodies.items()
    }
    assert {stream: body.size for stream, body in found.items()} == {
        stream: len(body) for stream, body in bodies.items()
    }


def test_missing_bytes_are_an_error() -> None:
    with pytest.raises(transcript.TranscriptError, match="stream 3"):
        transcript.bodies(b"abc" + data_record(3, 4, end=True) + STATISTICS)


def test_starts_are_read_only_where_they_are_precise() -> None:
    rows = (
        b"  1      +768us       +100us    668us  200  181 /index.html\n"
        b"  3     +1.22ms       +833us    389us  200   2K /objects/000.jpg\n"
        b"  5     +1.23s      +12.50ms    1.22s  200   2K /objects/001.jpg\n"
        b"  7     +2.46s       +1.23s     1.23s  200   2K /objects/002.jpg\n"
    )
    assert transcript.request_starts(STATISTICS + rows) == pytest.approx(
        {1: 100e-6, 3: 833e-6, 5: 12.5e-3}
    )
