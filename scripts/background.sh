#!/usr/bin/env bash
# background.sh PROGRAM [ARGUMENT…] — run a program on what measuring leaves of the processors.
#
# Extraction and analysis go on beside the measuring blocks. As idle work they lose a processor the moment that a
# program under test wants it; as ordinary work, even the nicest, they keep it for some milliseconds, and many loads
# would be invalid. With autogroups (sched(7)) that holds within a session only: programs under test stay in it.
# Some containers forbid the policy: there the work is at least nice.
set -euo pipefail

if chrt --idle 0 true 2>/dev/null; then exec chrt --idle 0 "$@"; fi
exec nice -n 19 "$@"
