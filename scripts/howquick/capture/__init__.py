"""Packet captures: packing what tcpdump wrote into pcapng, and reading frames back as arrays."""
