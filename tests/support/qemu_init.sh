#!/bin/busybox sh
# shellcheck shell=dash
# tests/support/qemu_init.sh: the first process of tests/support/qemu.sh's virtual machine. Makes the root of the machine
# below its own, with memory over it for what is written, runs the script there, tells its status
# and turns the machine off.
busybox=/bin/busybox
give_up() { echo "qemu_init: $*"; $busybox poweroff -f; }

$busybox mount -t proc proc /proc
$busybox mount -t sysfs sysfs /sys
$busybox mount -t devtmpfs dev /dev
for module in /modules/*; do
	$busybox insmod "$module" || give_up "no $module"
done
$busybox mount -t 9p -o ro,trans=virtio,version=9p2000.L,cache=loose,msize=262144 below /low ||
    give_up 'no root'
$busybox mount -t tmpfs -o size=75% ram /ram
$busybox mkdir /ram/upper /ram/work
$busybox mount -t overlay -o lowerdir=/low,upperdir=/ram/upper,workdir=/ram/work root /new ||
    give_up 'no room to write over the root'
for part in proc sys dev; do $busybox mount --move /$part /new/$part; done
$busybox mkdir -p /new/dev/shm /new/dev/pts
$busybox ln -s /proc/self/fd /new/dev/fd # as udev would
for part in run dev/shm; do $busybox mount -t tmpfs ram /new/$part; done

run=$($busybox sed 's/.*ease=//' /new/proc/cmdline)
$busybox cp "/new$run/start" /new/run/start || give_up 'no start'
$busybox cat >/new/run/first <<'END'
. /run/start
version=$(basename "$modules")
mkdir -p "/usr/lib/modules/$version"
mount --bind "/run/low$modules" "/usr/lib/modules/$version"
ln -sf "$(command -v busybox)" /sbin/modprobe # kmod wants an index that busybox does not write
ip link set lo up
run </dev/null >/dev/ttyS1 2>&1
status=$?
echo "QEMU-STATUS $status" >/dev/ttyS1
busybox poweroff -f
END
$busybox mkdir /new/run/low
$busybox mount --move /low /new/run/low
$busybox stty -F /new/dev/ttyS1 raw -echo 2>/dev/null
# Itself, not a child: the kernel looks for modprobe in the root of the first process.
exec $busybox switch_root /new /bin/bash /run/first
