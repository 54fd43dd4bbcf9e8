"""What programs under test cost beside a load: their start, their logs, and the testbed they run in."""
