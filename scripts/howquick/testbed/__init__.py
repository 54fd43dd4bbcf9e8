"""Private networks with a described link: sandbox, namespaces, emulation, calibration."""
