"""Get ready, fetch nothing, and claim success."""

import sys

print("ready", flush=True)
sys.stdin.readline()
