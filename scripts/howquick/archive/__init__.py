"""The archive of an artifact evaluation: what it holds, its guide and its metadata."""
