"""Print the version of aioquic that runs."""

import aioquic

print(f"aioquic {aioquic.__version__}")
