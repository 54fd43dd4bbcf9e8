"""The disturbance guard: what else happened during a load, and whether its number still counts."""
