"""What somebody sees who watches the workflow run: how far it is, how long it takes, and how it ended."""
