#!/bin/bash
# What sampling costs on a kernel that has all ways: our tap (at clsact, as the kernel is 6.1), the kernel's
# own `tc ... action sample`, libpcap. In a virtual machine, where a nanosecond is an instruction: the
# ratios count. bench_psample.sh [FRAMES [SKIP [ROUNDS]]]
. "$(dirname "$0")/bench_tools.sh"
need "$build/tests/bench/bench_linux"
[ -n "${EASE_IN_QEMU:-}" ] || exec "$(dirname "$0")/../support/qemu.sh" -i -t 600 "$0" "$@"
exec "$build/tests/bench/bench_linux" "${1:-32000}" "${2:-1000}" "${3:-5}"
