"""A viewer's player: its buffer, its stalls, the rates it asks for. It is told times and waits for none."""
