"""Of each property that not every link has, one that can be asked for."""

ASKED = {
    "bandwidth_up_mbit": 1,
    "delay_up_ms": 30,
    "aqm": "codel",
    "loss_burst_packets": 4,
    "jitter_ms": 2,
    "reorder_percent": 2,
    "path_mtu_bytes": 1400,
}
