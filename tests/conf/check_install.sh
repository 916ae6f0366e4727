#!/bin/bash
# conf/install-packages with nothing missing must leave apt alone, and with something missing must
# install just that, with no daemon started meanwhile and the machine's policy-rc.d back in place
# whether apt succeeds or fails. apt-get, dpkg-query, sudo and id are stand-ins here, and so are
# dnf and apk, where apt is not there. Prints PASS
# name or FAIL name: reason; exit 1 if one failed.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
failed=0
check() { # NAME CONDITION...
	local name=$1
	shift
	if "$@"; then echo "PASS install $name"; else echo "FAIL install $name: not so: $*"; failed=1; fi
}

mkdir "$dir/bin"
cat >"$dir/bin/apt-get" <<'END'
#!/bin/sh
echo "$*" >>"$STANDIN/apt"
"$EASE_POLICY_RC_D" snmpd start
echo $? >>"$STANDIN/policy"
[ ! -e "$STANDIN/fail" ]
END
cat >"$dir/bin/dpkg-query" <<'END'
#!/bin/sh
for package; do :; done
grep -qx "$package" "$STANDIN/missing" && exit 1
echo installed
END
cat >"$dir/bin/apt-cache" <<'END'
#!/bin/sh
[ "$1" = depends ] && echo '  Depends: clang-77' && exit
grep -qx "$2" "$STANDIN/unknown" && echo '  Candidate: (none)' || echo '  Candidate: 1'
END
printf '#!/bin/sh\necho 0\n' >"$dir/bin/id"
printf '#!/bin/sh\nexit 0\n' >"$dir/bin/systemctl"
printf '#!/bin/sh\nexit 0\n' >"$dir/bin/update-rc.d"
chmod +x "$dir"/bin/*
export STANDIN=$dir EASE_POLICY_RC_D=$dir/policy-rc.d
run() { : >"$dir/apt"; : >"$dir/policy"; PATH=$dir/bin:$PATH "$top/conf/install-packages" test >"$dir/out" 2>&1; }
file_is() { [ "$(cat "$1")" = "$2" ]; }
nothing_in() { [ ! -s "$1" ]; }
absent() { [ ! -e "$1" ]; }

: >"$dir/missing"
: >"$dir/unknown"
check 'nothing missing succeeds' run
check 'nothing missing runs no apt' nothing_in "$dir/apt"

printf 'snmpd\ncheck\n' >"$dir/missing"
check 'missing packages are installed' run
check 'only those, without recommended ones' grep -q -- 'install --no-install-recommends snmpd check$' "$dir/apt"
check 'no update while the lists suffice' [ "$(wc -l <"$dir/apt")" = 1 ]
check 'no daemon may start meanwhile' grep -qx 101 "$dir/policy"
check 'nothing stays behind' absent "$EASE_POLICY_RC_D"

echo clickhouse-server >"$dir/unknown"
printf 'clickhouse-client\nclickhouse-server\nlibclang-rt-77-dev\n' >"$dir/missing"
check 'a release need not have all' run
check 'what it has is installed, of its own clang' grep -q -- 'recommends clickhouse-client libclang-rt-77-dev$' "$dir/apt"
check 'what it has not is named' grep -q '^this release does not have clickhouse-server: ' "$dir/out"
printf 'snmpd\n' >"$dir/missing"

printf '#!/bin/sh\nexit 7\n' >"$EASE_POLICY_RC_D"
chmod +x "$EASE_POLICY_RC_D"
touch "$dir/fail"
check 'a failing apt fails it' eval '! run'
check 'after an update' grep -q update "$dir/apt"
check "the machine's own policy is back" file_is "$EASE_POLICY_RC_D" $'#!/bin/sh\nexit 7'
check 'and nothing beside it' absent "$EASE_POLICY_RC_D.easeswitch"

# Systems without apt: by their own names, each once, and what is there already is left alone.
mkdir "$dir/other"
for tool in bash sed awk sort dirname; do ln -s "$(command -v $tool)" "$dir/other/"; done
cp "$dir/bin/id" "$dir/other/"
there() { printf '#!/bin/sh\nfor name; do :; done\n[ "$name" = make ]\n'; }
there >"$dir/other/rpm"
printf '#!/bin/sh\necho "$*" >>"$STANDIN/other.log"\n' >"$dir/other/dnf"
chmod +x "$dir"/other/*
elsewhere() { : >"$dir/other.log"; PATH=$dir/other "$(command -v bash)" "$top/conf/install-packages" "$1" >"$dir/out" 2>&1; }
check 'dnf: it installs' elsewhere run
check 'dnf: by its names, each once' grep -qE '^-q -y .*install autoconf .* glibc-devel .* net-snmp net-snmp-devel net-snmp-utils .* zlib-devel$' "$dir/other.log"
check 'dnf: nothing that is there, or has no name' eval '! grep -qE " make | - |-dev |libjs" "$dir/other.log"'
check 'dnf: what tests need is not known' eval '! elsewhere test'
check 'dnf: it says so, and installs nothing' eval 'grep -q "known for apt alone" "$dir/out" && nothing_in "$dir/other.log"'
rm "$dir/other/dnf" "$dir/other/rpm"
printf '#!/bin/sh\nfor name; do :; done\nif [ "$1" = info ]; then [ "$name" = make ]; else echo "$*" >>"$STANDIN/other.log"; fi\n' >"$dir/other/apk"
chmod +x "$dir/other/apk"
check 'apk: it installs' elsewhere run
check 'apk: by its names' grep -qE '^add -q argp-standalone autoconf .* confuse-dev .* linux-headers musl-dev net-snmp net-snmp-dev net-snmp-tools .* zlib-dev$' "$dir/other.log"
rm "$dir/other/apk"
check 'a system of another kind is refused by name' eval '! elsewhere run && grep -q "neither apt, dnf nor apk" "$dir/out"'
exit $failed
