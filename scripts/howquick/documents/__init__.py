"""Pages that are written from what they describe, so that they cannot age."""
