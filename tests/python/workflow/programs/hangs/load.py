"""Get ready, then never finish."""

import sys
import time

print("ready", flush=True)
sys.stdin.readline()
time.sleep(600)
