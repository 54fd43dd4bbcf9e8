#!/bin/bash
# An end point as the QUIC Interop Runner starts it; $1: where the programs are.
set -euo pipefail

/setup.sh
case "$TESTCASE" in
  http3) protocol=h3 connection=cold ;;
  transfer) protocol=hq connection=cold ;;
  resumption) protocol=hq connection=resumed ;;
  zerortt) protocol=hq connection=0rtt ;;
  *) exit 127 ;;
esac
if [ "$ROLE" = client ]; then
  /wait-for-it.sh sim:57832 -s -t 30
  exec "$1/bin/python" -B "$(dirname "$0")/client.py"
fi
knobs=(ACK_PACKETS=2 AES_ACCELERATION=true CIPHER=default GROUP=X25519:P-256 GSO=false
  IDLE_TIMEOUT_S=30 INITIAL_MAX_DATA=1000000 INITIAL_MAX_STREAM_DATA=1000000 INITIAL_RTT_MS=333
  MAX_STREAMS=100 MAX_UDP_PAYLOAD=1350 ON_MOVE=migrate PACING=true SCHEDULING=fifo SOCKET_BUFFER_BYTES=0
  URGENCY=none VERIFY=true)
exec env "${knobs[@]/#/OPTION_}" PROTOCOL=$protocol CONNECTION=$connection \
  CONGESTION_CONTROL=cubic HOST=server4 ADDRESS=0.0.0.0 PORT=443 CERTS=/certs STATE=/tmp WWW=/www \
  "$1/bin/server"
