"""From run folders to tidy tables (docs/formats.md, sections 4 to 6)."""
