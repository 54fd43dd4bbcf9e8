#!/bin/bash
# Start the runner's client, which takes its URLs as arguments. $1: the program; REQUESTS: URLs, CLIENT_PARAMS: options.
set -euo pipefail
read -ra parameters <<<"${CLIENT_PARAMS:-}"
read -ra urls <<<"$REQUESTS"
exec "$1" "${parameters[@]}" "${urls[@]}"
