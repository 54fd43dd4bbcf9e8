"""Measuring: one block of repetitions in one private testbed."""
