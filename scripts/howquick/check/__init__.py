"""Whether an implementation does what its endpoint.yaml declares."""
