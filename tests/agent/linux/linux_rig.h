/*
 * A network namespace for a test of the Linux device, with the device and a HAL on it. Each test
 * has a namespace of its own: it enters a new one, in which ip, bridge and tc work as everywhere,
 * and which the kernel takes away with the process. What those commands say is the truth the tests
 * compare with.
 */
#ifndef EASE_TESTS_LINUX_RIG_H
#define EASE_TESTS_LINUX_RIG_H

#include "agent/hal/hal.h"
#include "agent/linux/linux_device.h"

#include <jansson.h>
#include <stdbool.h>

enum { LINUX_RIG_CHANGES = 4096 };

struct linux_rig {
	struct linux_config config;
	struct hal_device *device;
	struct hal *hal;
	struct hal_listener listener;
	size_t n_new_addresses;
	struct ease_address newest;
	size_t n_changes;
	uint32_t changed[LINUX_RIG_CHANGES]; /* ifIndexes, in order */
};

/* Enters a new namespace, with IPv6 off so that nobody sends by himself. False where that is not
 * permitted: a line SKIP is printed, and the test has nothing to do. */
bool linux_rig_enter(const char *test);

/* A command of the shell that must succeed. */
void linux_rig_sh(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* What it prints, as JSON. The caller's to release. */
json_t *linux_rig_json(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Does the command succeed? Its output is thrown away. */
bool linux_rig_can(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A device with rig->config, and its HAL, started. */
void linux_rig_start(struct linux_rig *rig);
void linux_rig_stop(struct linux_rig *rig);
/* Dispatches until the device has nothing more to tell. */
void linux_rig_settle(struct linux_rig *rig);

/* The port of that name now; NULL: there is none. Valid until the next call. */
const struct hal_port *linux_rig_port(struct linux_rig *rig, const char *name);

/* Every Ethernet link that ip shows is a port with the same figures, and no other port is there. */
void linux_rig_expect_as_ip(struct linux_rig *rig);
void linux_rig_expect_oper_status(struct linux_rig *rig, const char *name, uint8_t status);

/* So many addresses were new since the begin; the kernel's bridge may learn a frame's after it was sent. */
void linux_rig_expect_new_addresses(struct linux_rig *rig, size_t n);

/* The address table is what `bridge fdb` shows of the bridge. */
void linux_rig_expect_as_bridge(struct linux_rig *rig);

/* Sends n frames of `octets` (without FCS) out of the interface, to mac; the source's last four
 * octets are i % n_sources. */
void linux_rig_send(const char *interface, const uint8_t mac[6], size_t octets, unsigned n,
    unsigned n_sources);

uint64_t linux_rig_stat(struct linux_rig *rig, const char *name);

#endif
