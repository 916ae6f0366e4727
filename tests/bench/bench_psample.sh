#!/bin/bash
# What sampling costs on a kernel that has all ways: our tap (at clsact, as the kernel is 6.1), the kernel's
# own `tc ... action sample`, libpcap. In a virtual machine, where a nanosecond is an instruction: the
# ratios count.
[ -n "${EASE_IN_QEMU:-}" ] || exec "$(dirname "$0")/../support/qemu.sh" -i -t 600 "$0"
exec "$EASE_BUILD/tests/bench_linux" 32000 1000 5
