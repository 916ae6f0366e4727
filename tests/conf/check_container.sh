#!/bin/bash
# The container files: every stage and file that they name is there, both configurations pass --check, and what the agent
# sends the collector takes. With EASE_LONG and buildah both images are built, upon a Debian made by debootstrap, and
# the collector of one prints a report of what the agent of the other sent. Prints PASS, FAIL or SKIP lines; exit 1 if one failed.
. "$(dirname "$0")/../support/rig.sh"
image_tree=''
trap 'rm -rf "$rig"; [ -z "$image_tree" ] || rm -rf --one-file-system "$image_tree"' EXIT
folder=$top/conf/container
stages=$(sed -n 's/^FROM .* AS //p' "$folder/Containerfile" | sort | paste -sd' ')
expect 'compose starts stages that there are' "$(sed -n 's/.*target: \([a-z]*\)}.*/\1/p' "$folder/compose.yaml" | sort | paste -sd' ')" \
    "$(tr ' ' '\n' <<<"$stages" | grep -v build | paste -sd' ')"
expect 'files that are copied are in the tree' "$(sed -n 's/^COPY \(conf[^ ]*\) .*/\1/p' "$folder/Containerfile" |
    while read -r file; do [ -e "$top/$file" ] || echo "$file"; done)" ''
expect 'and those that compose mounts' "$(sed -n 's,^ *- \./\([^:]*\):.*,\1,p' "$folder/compose.yaml" |
    while read -r file; do [ -e "$folder/$file" ] || echo "$file"; done)" ''
value() { sed -n "s/^$2 .*\"\([^\"]*\)\".*/\1/p" "$folder/$1.conf"; }
expect 'the agent sends where the collector listens' "$(sed -n 's/^trap_sink "[^"]*:\([0-9]*\)" .*"\(.*\)".*/\1 \2/p' "$folder/easeagentd.conf")" \
    "$(value easecapd listen | sed 's/.*://') $(value easecapd communities)"
sed "s,/var/lib,$rig,; s/^run_as.*//" "$folder/easeagentd.conf" >"$rig/agent.conf"
sed "s,/var/lib,$rig," "$folder/easecapd.conf" >"$rig/capd.conf"
chmod 640 "$rig"/*.conf
mkdir "$rig/easecapd" "$rig/easeagentd"
if "$build/collector/easecapd" -c "$rig/capd.conf" --check >"$rig/check" 2>&1; then pass 'the collector takes its configuration'
else fail 'the collector takes its configuration' "$(head -n 2 "$rig/check")"; fi
if "$build/agent/easeagentd" -c "$rig/agent.conf" --check >"$rig/check" 2>&1; then pass 'the agent takes its configuration'
else fail 'the agent takes its configuration' "$(tail -n 2 "$rig/check")"; fi
exit $failed
