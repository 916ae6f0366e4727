#!/bin/bash
# check_bridges.sh and check_vlans.sh in a virtual machine with Debian's kernel, whose bridges may be VLAN-aware. Prints
# PASS, FAIL or SKIP lines; exit 1 if one failed.
[ -n "${EASE_LONG:-}" ] || { echo "SKIP bridges_kernel: minutes in a virtual machine: tests/run --long"; exit 0; }
here=$(dirname "$0")
[ -n "${EASE_IN_QEMU:-}" ] || exec "$here/../../support/qemu.sh" -m 700 -t 590 "$0"
failed=0
"$here/check_bridges.sh" || failed=1
"$here/../../mibs/check_vlans.sh" || failed=1
exit $failed
