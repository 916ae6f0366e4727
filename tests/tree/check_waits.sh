#!/bin/bash
# No script and no helper program of the tests waits without a limit, as far as its text shows (waits.py), and wait_for says
# what it waited for. Then lines with one such wait each, to see that it is found. Prints PASS or FAIL lines; exit 1 if one failed.
set -u
export LC_ALL=C.UTF-8
top=$(cd "$(dirname "$0")/../.." && pwd)
failed=0
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$top" || exit 1
waits=$top/tests/tree/waits.py
mapfile -t files < <({ find tests conf -name '*.sh' -o -name '*.py'; find tests -name '*.c' ! -name 'check_*.c'
    grep -lE '^#!/bin/(ba)?sh' conf/* tests/* .ci/* 2>/dev/null; } | grep -v /check_waits.sh | sort -u)
if [ ${#files[@]} -gt 150 ]; then echo "PASS waits: ${#files[@]} files"; else
	echo "FAIL waits: only ${#files[@]} files"
	failed=1
fi
found=$(python3 "$waits" "${files[@]}" 2>&1)
if [ -z "$found" ]; then echo 'PASS waits: each has a limit'; else
	echo "FAIL waits: $(wc -l <<<"$found") without one: $(head -n 5 <<<"$found" | tr '\n' ';')"
	failed=1
fi

. "$top/tests/support/wait_for.sh"
said=$(wait_for 0 test -e "$dir/none" 2>&1)
if [ "$said" = "waited 0 s for: test -e $dir/none" ]; then echo 'PASS waits: wait_for says what it waited for'; else
	echo "FAIL waits: wait_for says '$said'"
	failed=1
fi
while IFS='|' read -r file lines finds; do
	printf "$lines\n" >"$dir/$file"
	n=$(python3 "$waits" "$dir/$file" | wc -l)
	if [ "$n" = "$finds" ]; then echo "PASS waits: $finds found in $file: $lines"; else
		echo "FAIL waits: $n instead of $finds found in $file: $lines"
		failed=1
	fi
done <<'END'
a.sh|until test -e x; do\n\tsleep 0.1\ndone|1
a.sh|while ! curl -m 1 x; do sleep 1; done|1
a.sh|until test -e x >y; do\n\tsleep 0.1\ndone|1
a.sh|while [ $SECONDS -lt $end ]; do\n\tsleep 0.1\ndone|0
a.sh|for _ in $(seq 100); do test -e x && break; sleep 0.1; done|1
a.sh|for _ in $(seq 100); do echo x; sleep 0.1; done|0
a.sh|while :; do echo x; sleep 1; done & # until it is killed|0
a.sh|x=$(curl -s http://x)|1
a.sh|x=$(curl -s --max-time 9 http://x)|0
a.sh|wait_for 5 test "$(ask)" = 1|1
a.sh|wait_for 5 prints 1 ask|0
a.c|while (!done)\n\tusleep(100);|1
a.c|while (!done && clock_us() < end_us)\n\tusleep(100);|0
a.c|poll(&p, 1, -1);|1
a.py|while True:\n    time.sleep(1)|1
a.py|while time.monotonic() < end:\n    time.sleep(1)|0
a.py|subprocess.run(["x"])\nurlopen("x", timeout=3)\nprocess.wait()|2
END
exit $failed
