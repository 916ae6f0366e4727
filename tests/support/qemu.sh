#!/bin/bash
# tests/support/qemu.sh [-i] [-c CPUS] [-m MIB] [-n] [-r] [-s] [-t SECONDS] SCRIPT [ARGUMENT...]
#
# Runs a script of bash as root in a virtual machine with Debian's kernel, for what the kernel of the
# machine below may lack: modules (psample, bond, team, VLANs), hooks of an older kernel, privileges
# to give away. The script sees every file of the machine below, at the same path, as it is: its
# programs and libraries, the sources, the build. It may write wherever it likes: that stays in the
# memory of the virtual machine and goes with it. Modules load themselves, or by modprobe. There is
# one interface, lo; with -n a network card beside it, of Intel's sort that e1000e drives, whose cable
# ends nowhere; with -r a switch chip, QEMU's rocker, of two ports, each with a cable to such a card. Its
# driver, which Debian's kernel lacks, is built at first use from Debian's source, and EASE_ROCKER names it;
# so is that of netdevsim, a switch chip that is all driver, with -s, and EASE_NETDEVSIM names it.
#
# Prints what the script prints, and ends with its status; the script finds EASE_IN_QEMU set, and
# EASE_BUILD, EASE_LONG as they are here. A test is one file if it begins with
#	[ -n "${EASE_IN_QEMU:-}" ] || exec "$(dirname "$0")/qemu.sh" "$0"
# No machine can be had (a program is missing, the archive is out of reach): a line SKIP, status 0.
# It does not come to its end (SECONDS, 300 unless told): a line FAIL with the console, status 1.
#
# The kernel is fetched once from Debian's archive into the build directory, and not installed.
# Emulated without KVM: about twenty times slower than the machine below, so what counts in there
# is ratios; and two processors take thrice as long for the same as one. Addresses of processes are the same
# each time, or the emulator would translate each program anew whenever it starts. The clock is the HPET's, which
# is right on a busy machine, too, where the guest mistakes how fast the TSC counts; with -i a nanosecond is an
# instruction, whatever else the machine below does, and there is one processor.
set -u
export LC_ALL=C
top=$(cd "$(dirname "$0")/../.." && pwd)
build=${EASE_BUILD:-$top/build}
PATH=$PATH:/usr/sbin:/sbin
cpus=1 mib=512 seconds=300 clock=() source=hpet card=() chip='' simulated=''
while getopts ic:m:nrst: option; do
	case $option in
	i) clock=(-icount 'shift=0,sleep=off') source='tsc tsc=reliable' ;;
	c) cpus=$OPTARG ;;
	m) mib=$OPTARG ;;
	n) card=(-netdev hubport,hubid=0,id=cable -device e1000e,netdev=cable) ;;
	r) chip=rocker ;;
	s) simulated=netdevsim ;;
	t) seconds=$OPTARG ;;
	*) exit 2 ;;
	esac
done
shift $((OPTIND - 1))
[ $# -ge 1 ] || { sed -n '2s/^# /usage: /p' "$0" >&2; exit 2; }
suite=$(basename "$1" .sh)
suite=${suite#check_}
leave_out() { echo "SKIP $suite in a virtual machine: $1"; exit 0; }

for need in qemu-system-x86_64 busybox cpio flock dpkg-deb apt-get; do
	command -v "$need" >/dev/null || leave_out "$need is not there"
done
[ "$(uname -m)" = x86_64 ] || leave_out 'only for x86_64'
qemu-system-x86_64 -help | grep -q '^-virtfs' || leave_out 'this qemu does not share folders'
! ldd "$(command -v busybox)" >/dev/null 2>&1 || leave_out 'busybox is not static'
mkdir -p "$build/qemu" || leave_out "$build/qemu cannot be made"
store=$(cd "$build/qemu" && pwd)

# ---- the kernel: $store/ready names its version; beside it vmlinuz, lib/modules, initramfs ----

fetch_package() { # into the present folder
	local name
	name=$(apt-cache depends linux-image-amd64 2>/dev/null | sed -n 's/.*Depends: \(linux-image-[^ ]*\).*/\1/p')
	[ -n "$name" ] && apt-get -q download "$name"
}
# What a network and a root need: a tenth of all modules.
unpack() { # PACKAGE
	dpkg-deb --fsys-tarfile "$1" | tar -x --wildcards ./boot/vmlinuz-'*' './lib/modules/*/modules.*' \
	    './lib/modules/*/kernel/'{net,lib,crypto,arch,fs/9p,fs/fscache,fs/netfs,fs/overlayfs,drivers/virtio,drivers/net/'*.ko',drivers/net/bonding,drivers/net/team,drivers/net/ethernet/intel/e1000e}
}
modules_of() { # MODULE...: the files of each and of what it needs, in order of loading
	local module
	for module; do
		modprobe_order "$module"
	done | awk '!seen[$0]++'
}
modprobe_order() {
	awk -v want="/$1.ko:" 'index($0, want) { sub(":", ""); for (i = NF; i > 0; i--) print $i }' \
	    "$store/lib/modules/$version/modules.dep"
}
make_initramfs() {
	local root=$store/root file n=100
	mkdir -p "$root"/{bin,dev,proc,sys,modules,low,ram,new} || return 1
	cp "$(command -v busybox)" "$root/bin/busybox" || return 1
	for file in $(modules_of virtio_pci 9pnet_virtio 9p overlay); do
		cp "$store/lib/modules/$version/$file" "$root/modules/$n-$(basename "$file")" || return 1
		n=$((n + 1))
	done
	cp "$top/tests/support/qemu_init.sh" "$root/init" && chmod 755 "$root/init" || return 1
	(cd "$root" && find . | cpio -o -H newc --quiet | gzip -1) >"$store/initramfs"
	rm -rf "$root"
}
prepare() {
	local new=$store/new
	rm -rf "$new" "${store:?}"/{lib,vmlinuz,initramfs,ready}
	mkdir -p "$new" && cd "$new" || return 1
	fetch_package || { [ "$(id -u)" = 0 ] && apt-get -q update && fetch_package; } || return 1
	unpack ./*.deb || return 1
	version=$(basename lib/modules/*)
	busybox depmod -b "$new" "$version" || return 1
	mv lib "$store/lib" && mv boot/vmlinuz-* "$store/vmlinuz" || return 1
	cd "$store" && rm -rf "$new"
	make_initramfs && echo "$version" >"$store/ready"
}
exec 9>"$store/lock"
flock 9 # another test may be fetching it
if [ ! -s "$store/ready" ] || [ "$top/tests/support/qemu_init.sh" -nt "$store/ready" ] ||
    [ ! -d "$store/lib/modules/$(<"$store/ready")/kernel/drivers/net/ethernet" ]; then
	(prepare) >"$store/log" 2>&1 9>&- || leave_out "no kernel: $(tail -n 1 "$store/log")"
fi
version=$(<"$store/ready")

# ---- drivers of switch chips: $store/rocker-VERSION.ko, netdevsim-VERSION.ko ----

build_driver() { # NAME FOLDER
	local new=$store/new headers=linux-headers-$version common source=$2 tree
	rm -rf "$new" && mkdir -p "$new/unpacked" && cd "$new" || return 1
	common=${headers%-*}-common
	apt-get -q download "$headers" "$common" linux-kbuild-6.1 linux-source-6.1 || return 1
	for package in "$headers"_* "$common"_* linux-kbuild-*; do dpkg-deb -x "$package" unpacked || return 1; done
	dpkg-deb --fsys-tarfile linux-source-* | tar -xO ./usr/src/linux-source-6.1.tar.xz |
	    tar -xJ --wildcards "linux-source-6.1/$source/*" || return 1
	tree=$new/unpacked/usr/src
	sed -i "s,/usr/src/,$tree/," "$tree/$headers/Makefile" || return 1
	make -C "$tree/$headers" M="$new/linux-source-6.1/$source" "CONFIG_${1^^}=m" KBUILD_MODPOST_WARN=1 modules || return 1
	mv "linux-source-6.1/$source/$1.ko" "$store/$1-$version.ko" && cd "$store" && rm -rf "$new"
}
if [ -n "$simulated" ] && [ ! -s "$store/netdevsim-$version.ko" ]; then # a test goes without it
	(build_driver netdevsim drivers/net/netdevsim) >"$store/log" 2>&1 9>&- || echo "no driver of netdevsim: $(tail -n 1 "$store/log")" >&2
fi
if [ -n "$chip" ]; then
	[ -s "$store/rocker-$version.ko" ] || (build_driver rocker drivers/net/ethernet/rocker) >"$store/log" 2>&1 9>&- ||
	    leave_out "no driver of rocker: $(tail -n 1 "$store/log")"
	base=$((20000 + RANDOM % 20000))
	card+=(-global rocker.len-ports=2)
	for i in 1 2; do # a cable: two sockets that send to each other
		a=$((base + 2 * i)) b=$((base + 2 * i + 1))
		card+=(-netdev "socket,id=sw$i,udp=127.0.0.1:$a,localaddr=127.0.0.1:$b"
		    -netdev "socket,id=host$i,udp=127.0.0.1:$b,localaddr=127.0.0.1:$a"
		    -device "e1000e,netdev=host$i,mac=02:00:00:00:00:0$i")
	done
	card+=(-device 'rocker,name=sw,ports[0]=sw1,ports[1]=sw2')
fi
exec 9>&-

# ---- one run ----

run=$(mktemp -d "${TMPDIR:-/tmp}/easeswitch-qemu.XXXXXX")
pid=''
trap '[ -z "$pid" ] || kill "$pid" 2>/dev/null; rm -rf "$run"' EXIT
trap 'exit 143' INT TERM HUP
quoted() { printf '%q ' "$@"; }
{
	echo "export EASE_IN_QEMU=1 EASE_BUILD=$(quoted "$(cd "$build" && pwd)")"
	echo "export EASE_ROCKER=$(quoted "$store/rocker-$version.ko") EASE_NETDEVSIM=$(quoted "$store/netdevsim-$version.ko")"
	echo "export EASE_LONG=$(quoted "${EASE_LONG:-}") LC_ALL=C HOME=/root TMPDIR=/tmp"
	echo "export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
	echo "modules=$(quoted "$store/lib/modules/$version")"
	echo "cd $(quoted "$top")"
	echo "run() { bash $(quoted "$(realpath "$1")" "${@:2}"); }"
} >"$run/start"
: >"$run/lines"
timeout -k 5 "$seconds" qemu-system-x86_64 -accel tcg ${clock[@]+"${clock[@]}"} -cpu max -smp "$cpus" -m "$mib" -nodefaults \
    -display none -no-reboot -kernel "$store/vmlinuz" -initrd "$store/initramfs" \
    -append "console=ttyS0 quiet panic=-1 mitigations=off norandmaps clocksource=$source ease=$run" \
    -serial "file:$run/console" -serial "file:$run/lines" ${card[@]+"${card[@]}"} \
    -virtfs local,path=/,mount_tag=below,security_model=none,readonly=on,multidevs=remap \
    </dev/null >"$run/qemu" 2>&1 &
pid=$!
wait "$pid"
status=$? pid=''
tr -d '\r' <"$run/lines" | sed '/^QEMU-STATUS /d'
ended=$(tr -d '\r' <"$run/lines" | sed -n 's/^QEMU-STATUS //p')
[ -z "$ended" ] || exit "$ended"
[ $status != 124 ] || echo "FAIL $suite in a virtual machine: not at its end after $seconds s"
[ $status = 124 ] || echo "FAIL $suite in a virtual machine: it ended by itself (qemu: $status)"
tail -q -n 15 "$run/qemu" "$run/console" 2>/dev/null | tr -d '\r' | sed 's/^/    /'
exit 1
