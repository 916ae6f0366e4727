#!/bin/bash
# The guide: each command in its chapters is run as it stands, and prints what the chapter shows;
# configurations pass --check, code stands in its file, and every counter of the table is one that the
# programs know. In a directory of its own, where conf/demo has run once into `demo` and a whole
# system runs with its state in `live`, as the first chapter has it. How blocks are marked: guide.py.
. "$(dirname "$0")/../support/rig.sh"
rig_needs_sim
. "$(dirname "$0")/../support/clickhouse.sh"
for need in python3 curl sqlite3 pgrep; do
	command -v "$need" >/dev/null || { skip 'all' "$need is not there"; exit 0; }
done
work=$rig
rig=$work/live
trap 'rig_stop; clickhouse_end; rm -rf "$work"' EXIT
mkdir -p "$rig" "$work/conf"

# conf/… as in a clone; programs by their names, as installed.
for file in "$top"/conf/*; do
	name=$(basename "$file")
	if [ -d "$file" ] || [ ! -x "$file" ]; then
		ln -s "$file" "$work/conf/$name"
	else
		printf '#!/bin/sh\nexec "%s" "$@"\n' "$file" >"$work/conf/$name"
		chmod +x "$work/conf/$name"
	fi
done
export EASE_TOP=$top EASE_BUILD=$build EASE_SEED=1 PATH=$build/agent:$build/collector:$PATH MIBS=
cd "$work" || exit 1

# ---- every counter that a chapter names ----

counters_of_source() {
	(cd "$top" && grep -rhoE '\{ *"[a-z0-9_]+\.[a-z0-9_]+"' --include='*.c' agent collector) |
	    grep -oE '[a-z0-9_]+\.[a-z0-9_]+'
	"$build/agent/easeagentd" --list-objects | cut -f1
}
counters_of_source | sort -u >known
named=$(sed -nE 's/^\| `([^`]+)`.*/\1/p' "$top/conf/guide/troubleshooting.md" | sort -u)
expect 'counters: the table has some' "$([ "$(wc -l <<<"$named")" -gt 50 ] && echo yes)" yes
expect 'counters of the table are known' "$(comm -23 - known <<<"$named")" ''

# ---- the commands ----

rig_http=127.0.0.1:0
rig_new
TRAP_PORT=$(free_port)
SNMPD_PORT=$(free_port)
SFLOW_PORT=$(free_port)
export TRAP_PORT SNMPD_PORT SFLOW_PORT
enough_samples() { [ "$(easetop talkers --last all --format json | jq .samples)" -gt 200 ]; }
without=none
if reason=$(clickhouse_missing) || { ! clickhouse_start 1 && reason='no server starts'; }; then
	skip 'chapter scaling-out' "$reason"
	without=scaling-out
else
	export CLICKHOUSE=http://127.0.0.1:${clickhouse_http[0]}
fi
chapters() { # the first one sets what the others use
	echo "$top/conf/guide/first-hour.md"
	ls "$top"/conf/guide/*.md | grep -v "/first-hour.md$\|/README.md$\|/$without.md$"
}
if conf/make-capture "$work/live.pcap" >/dev/null &&
    rig_start "$work/live.pcap" recorded 'loop = true' 'mean_skip = 50' && wait_for 20 enough_samples; then
	readarray -t files < <(chapters)
	python3 "$top/tests/conf/guide.py" "${files[@]}" || failed=1
else
	fail 'live system' 'it did not come up'
fi

# ---- README ----

# Its reports are those of the demo's run in `demo`, its collector's options are taken, and the files that it
# names are there.
readme() { # REPORT: the block that shows it, as a chapter's
	echo '```console'
	awk -v report="easetop $1 " '/^    \$ / { shown = index($0, report) }
	    shown && /^    / { sub(/^    /, ""); print; next } { shown = 0 }' "$top/README" |
	    sed 's,build/collector/easetop,easetop,; s,DIR/,demo/,'
	echo '```'
}
for report in talkers load; do
	readme $report >"README-$report.md"
	python3 "$top/tests/conf/guide.py" "README-$report.md" || failed=1
done
{ sed -n 's/^    #     \([a-z_]* = \)/\1/p' "$top/README"; echo "store = \"$work/readme.db\""; } >readme.conf
chmod 600 readme.conf
expect 'README: options of the collector' "$(grep -c = readme.conf) $(easecapd -c readme.conf --check 2>&1)" '5 '
expect 'README: files that it names' "$(grep -oE '\b(conf|tests|mibs|common)/[A-Za-z0-9_./-]*[A-Za-z0-9_]' "$top/README" | sort -u |
    while read -r file; do [ -e "$top/$file" ] || echo "$file"; done)" ''
expect 'README: at most 200 lines' "$([ "$(wc -l <"$top/README")" -le 200 ] && echo yes)" yes
for room in $(cd "$top" && ls -d common agent/* mibs collector/* tests conf | grep -v '\.'); do
	[ ! -d "$top/$room" ] || grep -qE "^ +(${room##*/}/|.*\b${room##*/}/)" "$top/README" || missing=${missing:-}$room' '
done
expect 'README: every room is on its map' "${missing:-}" ''

# ---- the list of chapters ----

listed=$(grep -oE '\]\([a-z0-9-]+\.md\)' "$top/conf/guide/README.md" | tr -d ']()' | sort)
there=$(cd "$top/conf/guide" && ls | grep '\.md$' | grep -v README.md | sort)
expect 'chapters are listed' "$listed" "$there"
exit $failed
