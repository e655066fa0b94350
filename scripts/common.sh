# SPDX-License-Identifier: MIT
# Sourced by the other scripts: where things are and how to speak.

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
me=$(basename "$0")
state_dir=${BENCHCTL_STATE_DIR:-/run/benchctl}

say() { printf '%s: %s\n' "$me" "$*" >&2; }

# die MESSAGE [HINT]: an error ends the script with the status that benchctl
# itself uses when the environment cannot do what was asked.
die() {
    printf '%s: %s\n' "$me" "$1" >&2
    [ -z "${2:-}" ] || printf 'hint: %s\n' "$2" >&2
    exit 3
}

usage_error() {
    printf '%s: %s\n' "$me" "$1" >&2
    printf 'hint: %s --help\n' "$me" >&2
    exit 2
}

need_root() {
    [ "$(id -u)" = 0 ] || die "needs root to $1" "run it with sudo"
}

engine_answers() { timeout 10 docker version --format '{{.Server.Version}}' >/dev/null 2>&1; }

# The moment a process began, in clock ticks since boot: with it a pid that
# was given to another process later is not mistaken for ours.
process_birth() { sed 's/^.*) //' "/proc/$1/stat" 2>/dev/null | cut -d' ' -f20; }
