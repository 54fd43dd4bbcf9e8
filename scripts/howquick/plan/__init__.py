"""From a resolved study to blocks: seeds, order, estimates and fingerprints."""
