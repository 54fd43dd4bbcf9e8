"""Serve a copy of the folder with one byte changed."""

import json
import os
import shutil
import sys
from pathlib import Path

import yaml

changed = Path(os.environ["STATE"]) / "changed"
shutil.copytree(os.environ["WWW"], changed)
victim = changed / "objects" / "001.jpg"
body = bytearray(victim.read_bytes())
body[0] ^= 1
victim.write_bytes(body)
os.environ["WWW"] = str(changed)
nginx = Path(__file__).resolve().parents[5] / "envs" / "nginx"
for name, option in yaml.safe_load((nginx / "endpoint.yaml").read_text())["options"].items():
    default = option["default"]
    text = default if isinstance(default, str) else json.dumps(default)
    os.environ[f"OPTION_{name.upper()}"] = text
os.execv(sys.executable, [sys.executable, str(nginx / "serve.py")])
