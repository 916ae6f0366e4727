#!/bin/bash
# Sampling by psample on a kernel of Debian's in a virtual machine: the tests against the kernel, then the
# whole system over a bridge whose hosts know what they sent. (What else Linux ports need of another
# kernel is in check_kernel.sh.) Only with --long (EASE_LONG). Prints PASS, FAIL or SKIP lines; exit 1 if
# one failed.
set -u
[ -n "${EASE_LONG:-}" ] || { echo 'SKIP psample in a virtual machine: takes minutes (--long)'; exit 0; }
[ -n "${EASE_IN_QEMU:-}" ] || exec "$(dirname "$0")/qemu.sh" -t 850 "$0"
failed=0
out=/run/out

# It must not leave out what it is here for.
if "$EASE_BUILD/tests/check_psample_kernel" >$out 2>&1 && grep -q '^100%' $out; then
	echo "PASS psample against the kernel: $(sed -n 's/^100%: //p' $out)"
	grep '^1 in \|told as lost' $out
else
	echo 'FAIL psample against the kernel: it ended so'
	grep -v ' info ' $out | tail -n 20 | sed 's/^/    /'
	failed=1
fi
EASE_SAMPLING=psample "$(dirname "$0")/check_linux.sh" >$out 2>&1 || failed=1
sed '/own interfaces\|only read\|each is in the walk/d; s/^\(PASS\|FAIL\|SKIP\) linux/\1 psample system:/' $out
exit $failed
