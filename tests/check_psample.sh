#!/bin/bash
# Sampling by psample, and by eBPF through clsact, on a kernel of Debian's in a virtual machine: the tests
# against the kernel, then the whole system over a bridge whose hosts know what they sent. Only with
# --long (EASE_LONG). Prints PASS, FAIL or SKIP lines; exit 1 if one failed.
set -u
[ -n "${EASE_LONG:-}" ] || { echo 'SKIP psample in a virtual machine: takes minutes (--long)'; exit 0; }
[ -n "${EASE_IN_QEMU:-}" ] || exec "$(dirname "$0")/qemu.sh" -t 850 "$0"
failed=0
out=/run/out
unit() { # NAME PROGRAM: fails as well if it left everything out
	if "$EASE_BUILD/tests/$2" >$out 2>&1 && grep -q '^100%' $out && ! grep -q '^SKIP psample' $out; then
		echo "PASS psample $1: $(sed -n 's/^100%: //p' $out)"
		grep '^1 in \|told as lost' $out
	else
		echo "FAIL psample $1: status $?"
		grep -v ' info ' $out | tail -n 20 | sed 's/^/    /'
		failed=1
	fi
}
system() { # psample|ebpf
	EASE_SAMPLING=$1 "$(dirname "$0")/check_linux.sh" >$out 2>&1 || failed=1
	sed -n "/own interfaces\|only read\|each is in the walk/d; s/^\(PASS\|FAIL\|SKIP\) linux/\1 psample system by $1:/; p" $out
}

unit 'filters, samples, losses' check_psample_kernel
CK_RUN_CASE='coming and going' unit 'eBPF at clsact' check_tap
CK_RUN_CASE=registers unit 'eBPF registers' check_tap
system psample
system ebpf
exit $failed
