#!/usr/bin/env bash
# inside.sh ROOT [--writable] [--bind=PATH]… [--place=PATH=TARGET] [--file=PATH=TARGET]… -- PROGRAM [ARGUMENT…]
#
# Makes ROOT the root directory and runs PROGRAM there, in the folder the caller was in. Needs private mount and
# PID namespaces (namespace.pl). PATHs are visible where they are on the host, and so are /tmp and /var/tmp.
# ROOT is read-only; --writable is for those who change it, and hides the host's temporary folders from them.
# With --place a folder of the host that holds ROOT is visible at TARGET too.
# A file of the host covers TARGET, an existing file in ROOT or a PATH.
# pivot_root and not chroot: in a chroot the kernel refuses to make further user namespaces, which the testbed needs.
set -euo pipefail
PATH=$PATH:/usr/sbin:/sbin

fail() { printf 'enter: %s\n' "$*" >&2; exit 96; }

root=$1
shift
writable=
placed=
paths=()
# The host's way to its network.
files=(/etc/resolv.conf=/etc/resolv.conf /etc/hosts=/etc/hosts /etc/pip.conf=/etc/pip.conf)
while [[ $1 != -- ]]; do
  case $1 in
    --writable) writable=yes ;;
    --bind=*) paths+=("${1#*=}") ;;
    --place=*) placed=${1#*=} ;;
    --file=*) files+=("${1#*=}") ;;
    *) fail "inside.sh: unknown option $1" ;;
  esac
  shift
done
shift

# show_folder PATH [TARGET]: makes a folder of the host visible, at its own path or there; one that would hide a part of
# the system is left out.
show_folder() {
  local path=$1 target=${2:-$1}
  case $path in
    / | /bin | /boot | /dev | /etc | /lib* | /proc | /run | /sbin | /sys | /usr | /usr/bin | /usr/lib | /usr/sbin | /usr/share | /var | /var/lib)
      return ;;
  esac
  [[ -d $path && ! $root$target -ef $path ]] || return 0
  [[ -d $root$target ]] || mkdir -p "$root$target"
  mount --rbind "$path" "$root$target"
}

show_file() {
  [[ -f $1 && -f $root$2 ]] || return 0
  mount --bind "$1" "$root$2"
}

cd -P . # a folder that is gone fails here, not later
folder=$PWD
mount --bind "$root" "$root" || fail "cannot mount in a private namespace; see the requirements in the README"
mount -t tmpfs -o mode=755,nosuid,nodev run "$root/run"
mkdir -p "$root/run/lock" "$root/run/netns"
if [[ -n $writable ]]; then
  mount -t tmpfs -o mode=1777,nosuid,nodev tmp "$root/tmp"
else
  paths=(/tmp /var/tmp "${paths[@]}")
fi
for path in "${paths[@]}"; do show_folder "$path"; done
# One of these folders holds ROOT, and with it all the mounts made so far once more.
umount -l "$root$root" 2>/dev/null || true
if [[ -n $placed ]]; then
  show_folder "${placed%=*}" "${placed##*=}"
  umount -l "$root${placed##*=}${root#"${placed%=*}"}" 2>/dev/null || true
fi
for file in "${files[@]}"; do show_file "${file%%=*}" "${file#*=}"; done
mount -t proc -o nosuid,nodev,noexec proc "$root/proc" ||
  fail "cannot mount /proc. In a container, start it with an unmasked /proc (for example --security-opt systempaths=unconfined)."
mount --rbind /sys "$root/sys"
mount --rbind /dev "$root/dev"
mount -t tmpfs -o mode=1777,nosuid,nodev shm "$root/dev/shm"
if [[ -z $writable ]]; then
  # Not while packages are installed: ca-certificates replaces its bundle, which a mount would forbid.
  trusted=/etc/ssl/certs/ca-certificates.crt
  show_file "${SSL_CERT_FILE:-$trusted}" "$trusted"
  # A user namespace may add "read-only" but not take away what the file system's own mount has (nosuid, noatime, …).
  options=$(findmnt --noheadings --output VFS-OPTIONS --mountpoint "$root" | tail -n 1)
  mount -o "remount,bind,ro,${options#rw,}" "$root"
fi

cd "$root"
pivot_root . .
/usr/bin/umount -l .
if ! cd "$folder" 2>/dev/null; then
  fail "$folder is not visible inside: start from the repository, from your home folder, from /tmp, or name it in ENTER_BIND"
fi
exec "$@"
