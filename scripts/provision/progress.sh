# shellcheck shell=bash disable=SC2154 # variables of the one who sources this
# Parts of the provisioning: each with a log, its time, and a word to the user. Sourced by provision.sh.

start_progress() {
  running=$cache/running
  rm -rf "$running"
  mkdir "$running"
  [[ -s $cache/timing.csv ]] || echo part,seconds,started >"$cache/timing.csv"
  trap stop_progress EXIT
  show_progress &
  progress=$!
}

stop_progress() {
  [[ -z ${progress-} ]] || kill "$progress" 2>/dev/null || true
  progress=
  rm -rf "$running"
  clear_line
}

clock() { printf '%d:%02d' $(($1 / 60)) $(($1 % 60)); }

clear_line() { [[ ! -t 2 ]] || printf '\r\e[K' >&2; }

tell() {
  clear_line
  printf 'enter: %6s  %s\n' "$(clock $SECONDS)" "$*" >&2
}

# What runs and for how long: a line that changes on a terminal, now and then a line elsewhere.
show_progress() {
  local pause=30 begin='' end=$'\n' name line
  if [[ -t 2 ]]; then pause=1 begin=$'\r\e[K' end=''; fi
  while sleep "$pause"; do
    line=
    for name in "$running"/*; do
      [[ -f $name ]] || continue
      line+=", ${name##*/} $(clock $((SECONDS - $(<"$name"))))"
    done
    [[ -z $line ]] || printf '%senter: %6s  … %s: %.60s%s' "$begin" "$(clock $SECONDS)" "${line#, }" "$(last_word)" "$end" >&2
  done
}

# The last line of the log that was written to last.
last_word() {
  local newest='' name log
  for name in "$running"/*; do
    log=$cache/logs/${name##*/}.log
    [[ -z $newest || $log -nt $newest ]] && newest=$log
  done
  [[ ! -f $newest ]] || tail -n 1 "$newest" | tr -d '\r\033' | cut -c 1-60
}

# part NAME COMMAND…: runs COMMAND with its output in the part's log; ends everything if it fails.
part() {
  local name=$1 log=$cache/logs/$1.log started=$EPOCHREALTIME begun=$SECONDS status=0
  shift
  printf '%s' "$begun" >"$running/$name"
  tell "$name: begins"
  # In the background, because in a condition bash would ignore errors within COMMAND.
  (set -e && "$@") >"$log" 2>&1 </dev/null &
  wait $! || status=$?
  rm -f "$running/$name"
  if ((status != 0)); then
    clear_line
    tail -n 12 "$log" | sed 's/^/    /' >&2
    fail "$name failed: $(why_it_failed "$log") Log: $log"
  fi
  record_time "$name" "$started"
  tell "$name: done in $((SECONDS - begun)) s"
}

# record_time PART STARTED: one row of timing.csv.
record_time() {
  awk -v part="$1" -v from="${2/,/.}" -v to="${EPOCHREALTIME/,/.}" \
    'BEGIN {printf "%s,%.1f,%.0f\n", part, to - from, from}' >>"$cache/timing.csv"
}
