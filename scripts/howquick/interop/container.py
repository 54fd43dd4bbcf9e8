"""Running the image of an end point, by Podman or Apptainer, without root."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import subprocess
from pathlib import Path

from howquick.interop.request import Mount, Refused, Request

RUNTIMES = ("podman", "apptainer")
# An image in a file: an OCI or Docker archive.
ARCHIVES = (".tar", ".oci", ".tar.gz", ".tgz")
STORES = Path("/var/tmp")


def runtime() -> str:
    """`podman` or `apptainer`, whichever is found first. Raises Refused if neither is."""
    for name in RUNTIMES:
        if shutil.which(name):
            return name
    raise Refused(1, "this end point is a container image; install podman or apptainer to run it")


def _store() -> Path:
    """Folder of Podman's images, one per user of the host: they are kept between runs."""
    # In a user namespace we are root; the map tells who that is outside.
    user = next(
        (int(outside) + os.getuid() - int(inside)
         for inside, outside, count in map(str.split, Path("/proc/self/uid_map").read_text().splitlines())
         if 0 <= os.getuid() - int(inside) < int(count)),
        os.getuid(),
    )  # fmt: skip
    return STORES / f"howquick-containers-{user}"


def own_folder(folder: Path) -> Path:
    """Make the folder if it is missing. Raises Refused unless it is ours and nobody else can write there.

    It is in a place where everybody can make one, and what is in it is run.
    """
    with contextlib.suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o022:
        raise Refused(
            1,
            f"{folder}: not a folder of yours alone, so its images are not trusted; have it removed",
        )
    return folder


def _podman() -> list[str]:
    store = own_folder(_store())
    # The default is one piece of shared memory for all users that look like root.
    (store / "containers.conf").write_text('[engine]\nlock_type = "file"\n')
    os.environ["CONTAINERS_CONF"] = str(store / "containers.conf")
    # vfs needs neither overlay mounts nor FUSE, which an ordinary user may not have.
    return [
        "podman", f"--root={store}/images", f"--runroot={store}/run", "--storage-driver=vfs",
        # In a user namespace of one user, files of others become that user's.
        "--storage-opt=vfs.ignore_chown_errors=true",
        "--cgroup-manager=cgroupfs", "--events-backend=none", "--log-level=error",
    ]  # fmt: skip


def _volume(mount: Mount) -> str:
    return f"{mount.source}:{mount.target}{':ro' if mount.read_only else ''}"


def _load(podman: list[str], archive: str) -> str:
    """Put an archive into Podman's store; returns the name of its image. Raises Refused."""
    done = subprocess.run(
        [*podman, "load", "--quiet", "--input", archive],
        capture_output=True,
        text=True,
        check=False,
    )
    name = done.stdout.strip().rpartition("Loaded image: ")[2].strip()
    if done.returncode or not name:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise Refused(1, f"image {archive}: podman cannot load it: {last}")
    return name


def _is_archive(image: str) -> bool:
    return image.endswith(ARCHIVES) and ("/" in image)


def argv(request: Request, image: str) -> list[str]:
    """The argument vector that runs `image` in the network it is started in. Raises Refused."""
    if _is_archive(image) and not Path(image).is_file():
        raise Refused(1, f"image {image}: no such file")
    if runtime() == "podman":
        podman = _podman()
        name = _load(podman, image) if _is_archive(image) else image
        words = [*podman, "run", "--rm", "--network=host", "--cgroups=disabled", "--pull=missing"]
        # Podman's own names a group that a user namespace of one user does not have.
        words.append("--volume=/dev/pts:/dev/pts")
        # The contract's variables without those of this machine.
        for key in sorted(request.environment.keys() - {"PATH", "HOME"}):
            words.append(f"--env={key}={request.environment[key]}")
        words += [f"--volume={_volume(m)}" for m in request.mounts if m.target != "/etc/hosts"]
        # Other names lead to the same address.
        words += [
            f"--add-host={n}:{request.settings.address}"
            for n in (request.settings.host, "server", "server4")
        ]
        return [*words, name]
    words = ["apptainer", "run", "--containall", "--writable-tmpfs", "--no-home"]
    words += [f"--env={key}={value}" for key, value in sorted(request.environment.items())
              if key not in ("PATH", "HOME")]  # fmt: skip
    words += [f"--bind={_volume(mount)}" for mount in request.mounts]
    prefix = "oci-archive:" if _is_archive(image) else "docker://"
    return [*words, f"{prefix}{image}"]
