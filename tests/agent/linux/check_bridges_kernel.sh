#!/bin/bash
# check_bridges.sh in a virtual machine with Debian's kernel, whose bridges may be VLAN-aware. Prints PASS, FAIL or SKIP
# lines; exit 1 if one failed.
[ -n "${EASE_LONG:-}" ] || { echo "SKIP bridges_kernel: minutes in a virtual machine: tests/run --long"; exit 0; }
exec "$(dirname "$0")/../../support/qemu.sh" -m 700 -t 500 "$(dirname "$0")/check_bridges.sh"
