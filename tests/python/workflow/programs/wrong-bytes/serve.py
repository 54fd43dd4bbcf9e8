"""Serve a copy of the folder with one byte changed."""

import os
import shutil
import sys
from pathlib import Path

changed = Path(os.environ["STATE"]) / "changed"
shutil.copytree(os.environ["WWW"], changed)
victim = changed / "objects" / "001.jpg"
body = bytearray(victim.read_bytes())
body[0] ^= 1
victim.write_bytes(body)
os.environ["WWW"] = str(changed)
nginx = Path(__file__).resolve().parents[5] / "envs" / "nginx" / "serve.py"
os.execv(sys.executable, [sys.executable, str(nginx)])
