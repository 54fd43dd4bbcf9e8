"""Where a program's processor time goes: samples by perf, sorted into what the code is for."""
