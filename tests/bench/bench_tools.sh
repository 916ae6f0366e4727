# tests/bench/bench_tools.sh: what bench scripts share, to be sourced by bash.
set -u
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=${EASE_BUILD:-$top/build}
. "$top/tests/support/wait_for.sh"
export MIBS=
PATH=$PATH:/usr/sbin

die() { echo "$(basename "$0" .sh): $*" >&2; exit 1; }
need() { # PROGRAM...
	local program
	for program; do command -v "$program" >/dev/null || die "$program is not there"; done
}
median() { sort -g | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }
