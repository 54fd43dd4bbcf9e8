"""What a link really is: probes that are not the emulator's own, and bounds on what they find."""
