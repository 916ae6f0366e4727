# tests/support/debian_tree.sh: a Debian or Ubuntu of its own in a folder, for tests of packages and of other releases, to
# be sourced by bash. What it fetches (the system by debootstrap, and what is installed into it) comes from the
# mirror that this machine uses, for Ubuntu from its own. The bare system is kept in the build directory, and copied.
tree_mirror() {
	sed -n 's/^URIs: *//p; s/^deb [^ ]*\(http[^ ]*\).*/\1/p' /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null | head -1
}
# DIR RELEASE DISTRIBUTION [PACKAGES]: a bare system; a failure is in $base.log.
tree_bare() {
	local from=("$(tree_mirror)") options=()
	base=$build/debian/$2
	if [ "$3" = ubuntu ]; then from=('' gutsy) options=(--components=main,universe); fi # which newer releases are made by, too
	if [ ! -e "$base.ready" ]; then
		rm -rf --one-file-system "$base"
		mkdir -p "$(dirname "$base")"
		timeout -k 30 900 debootstrap --force-check-gpg --variant=minbase ${options[@]+"${options[@]}"} ${4:+"--include=$4"} \
		    "$2" "$base" "${from[@]}" >"$base.log" 2>&1 || return 1
		touch "$base.ready"
	fi
	cp -a "$base" "$1"
	cp /etc/resolv.conf "$1/etc/"
}
# DIR: a Debian 12 with systemd, snmpd and what looks at them; no daemon starts in it unless it is booted.
tree_new() {
	tree_bare "$1" bookworm debian systemd,systemd-sysv || return 1
	mkdir -p "$1/debs"
	printf '#!/bin/sh\nexit 101\n' >"$1/usr/sbin/policy-rc.d"
	chmod +x "$1/usr/sbin/policy-rc.d"
	tree_install "$1" snmpd snmp procps iproute2
}
# DIR PACKAGE...: by apt, with this machine's network.
tree_install() {
	# shellcheck disable=SC2016 # for the shell inside
	unshare --mount --pid --fork --kill-child sh -c '
	    root=$1; shift
	    mount -t proc proc "$root/proc" && mount --bind /dev "$root/dev" &&
	    chroot "$root" env DEBIAN_FRONTEND=noninteractive PATH=/usr/sbin:/usr/bin:/sbin:/bin sh -c "apt-get update -q &&
		apt-get install -q -y --no-install-recommends -o Dpkg::Use-Pty=0 $*"' - "$@" </dev/null >>"$1/apt.log" 2>&1
}
# DIR DEBS: what the packages depend on, as apt leaves it: so it is there before they come.
tree_depends() {
	# shellcheck disable=SC2046 # names without spaces
	tree_install "$1" $(for deb in "$2"/easeswitch-agent_*.deb "$2"/easeswitch-collector_*.deb; do
		dpkg-deb -f "$deb" Depends; done | tr ',' '\n' | sed 's/|.*//; s/(.*//; s/ //g' | sort -u)
}
# The packages of 0.1.0, built from this history, and kept in the build directory; their place in first_debs.
first_release() {
	local commit=a773720c source=$build/debian/source
	first_debs=$build/debian/0.1.0
	[ ! -e "$first_debs.ready" ] || return 0
	git -C "$top" cat-file -e "$commit^{commit}" 2>/dev/null || return 1
	rm -rf "$source" "$first_debs"
	mkdir -p "$source"
	git -C "$top" archive "$commit" | tar -x -C "$source"
	(cd "$source" && conf/build-deb "$first_debs") >"$first_debs.log" 2>&1
	rm -rf "$source"
	[ -e "$(echo "$first_debs"/easeswitch-collector_0.1.0_*.deb)" ] && touch "$first_debs.ready"
}
# FROM TO: the same packages as an earlier version had them: an earlier number, and another text in the
# agent's configuration.
older_debs() {
	local deb dir
	mkdir -p "$2"
	for deb in "$1"/easeswitch-agent_*.deb "$1"/easeswitch-collector_*.deb; do
		dir=$(mktemp -d)
		dpkg-deb -R "$deb" "$dir"
		sed -i 's/^Version: .*/Version: 0.0.9/' "$dir/DEBIAN/control"
		[ ! -e "$dir/etc/easeswitch/easeagentd.conf" ] ||
		    echo '# as it was in 0.0.9' >>"$dir/etc/easeswitch/easeagentd.conf"
		dpkg-deb -b "$dir" "$2/$(basename "$deb" | sed 's/_[^_]*_/_0.0.9_/')" >/dev/null
		rm -rf "$dir"
	done
}
# DIR: the packages, built there unless EASE_DEBS names a directory with them; their place in EASE_DEBS.
debs_built() {
	if [ -z "${EASE_DEBS:-}" ]; then
		"$top/conf/build-deb" "$1" >"$1.log" 2>&1 || { tail -20 "$1.log"; return 1; }
		EASE_DEBS=$1
	fi
}
