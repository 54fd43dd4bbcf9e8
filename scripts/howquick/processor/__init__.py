"""What a load costs the processor, measured by the real clock for the loads that are in virtual time."""
