"""The library behind the programs in scripts/: study, content, testbed, measure, capture, extract."""
