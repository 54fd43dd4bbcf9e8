"""The environment in one file, for nodes that do not see the cache folder where it was built."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from howquick.errors import UserError
from howquick.files import atomic_file, read_json

# The fastest level: the network between login node and nodes is faster than a better one.
COMPRESS = "gzip -1"


def pack_image(environment: Mapping[str, str], folder: Path) -> Path:
    """Return the image of this environment in `folder`, packed unless it is there.

    It holds the root directory, the programs that the manifest names, and the manifest, at their places below
    the cache folder; `enter` unpacks it (scripts/provision/image.sh). `environment`: the process's variables.
    Raises UserError where there is nothing to pack or no room for it.
    """
    if environment.get("HOWQUICK_INSIDE") != "enter":
        raise UserError(
            "HOWQUICK_NODES: 'image' is of the environment of ./enter, and this was started otherwise. "
            "With Nix, a shared store is the way: HOWQUICK_NODES=same. See docs/slurm.md."
        )
    manifest = Path(environment["HOWQUICK_MANIFEST"])
    image = folder.resolve() / f"environment-{manifest.stem.removeprefix('manifest-')}.tar.gz"
    if image.exists():
        return image
    print(
        f"howquick: packing the environment into {image} for the nodes: once, some minutes.",
        file=sys.stderr, flush=True,
    )  # fmt: skip
    # Gigabytes that a killed start left; nobody else packs into these results, whose lock is held.
    for left in folder.glob(f".{image.name}.*.tmp"):
        left.unlink()
    with atomic_file(image) as unfinished:
        packed = subprocess.run(
            ["tar", "--create", "--one-file-system", f"--use-compress-program={COMPRESS}",
             f"--file={unfinished}", f"--directory={manifest.parent}", "--", *image_parts(manifest)],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        if packed.returncode:
            said = packed.stderr.strip().splitlines()[-1:] or ["no message"]
            raise UserError(f"HOWQUICK_NODES: the image {image} could not be written: {said[0]}.")
    return image


def image_parts(manifest: Path) -> list[str]:
    """Paths below the cache folder, where its manifest lies, of what an image holds."""
    cache = manifest.parent
    prefixes = [Path(program["prefix"]) for program in read_json(manifest)["programs"].values()]
    built = [prefix for prefix in prefixes if prefix.is_relative_to(cache)]
    roots = {
        f"roots/{(prefix / '.complete').read_text(encoding='utf-8').strip()}" for prefix in built
    }
    return [
        *sorted(roots),
        *sorted(str(prefix.relative_to(cache)) for prefix in built),
        manifest.name,
    ]
