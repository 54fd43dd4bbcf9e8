"""What the Snakefile asks: configuration, inputs and outputs, capacity, sessions, clusters."""
