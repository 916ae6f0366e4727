# tests/support/debian_tree.sh: a Debian 12 of its own in a folder, for tests of the packages, to be sourced by
# bash. What it fetches (the system by debootstrap, and what is installed into it) comes from the
# mirror that this machine uses. The bare system is kept in the build directory, and copied.
base=$build/debian/bookworm

tree_mirror() {
	sed -n 's/^URIs: *//p; s/^deb [^ ]*\(http[^ ]*\).*/\1/p' /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null | head -1
}
# DIR: a tree with systemd, snmpd and what looks at them; no daemon starts in it unless it is booted.
tree_new() {
	local mirror
	mirror=$(tree_mirror)
	if [ ! -e "$base.ready" ]; then
		rm -rf --one-file-system "$base"
		mkdir -p "$(dirname "$base")"
		debootstrap --variant=minbase --include=systemd,systemd-sysv bookworm "$base" ${mirror:+"$mirror"} >"$base.log" 2>&1 || return 1
		touch "$base.ready"
	fi
	cp -a "$base" "$1"
	mkdir -p "$1/debs"
	cp /etc/resolv.conf "$1/etc/"
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
