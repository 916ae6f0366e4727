#include "tests/agent/linux/linux_rig.h"

#include "agent/hal/hal_provider.h"

#include <arpa/inet.h>
#include <check.h>
#include <errno.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	COMMAND_OCTETS = 1024,
	SEND_BATCH = 256,
	FRAME_OCTETS = 1514,
	FCS_OCTETS = 4,
	WAIT_TRIES = 200, /* of WAIT_US: four seconds */
	WAIT_US = 20000,
};

bool
linux_rig_enter(const char *test)
{
	if (unshare(CLONE_NEWNET) < 0) {
		printf("SKIP %s: no network namespace: %s\n", test, strerror(errno));
		fflush(stdout);
		return false;
	}
	setenv("PATH", "/usr/local/sbin:/usr/sbin:/sbin:/usr/local/bin:/usr/bin:/bin", 1);
	if (!linux_rig_can("ip -V")) {
		printf("SKIP %s: no ip command\n", test);
		fflush(stdout);
		return false;
	}
	linux_rig_sh("echo 1 2>/dev/null >/proc/sys/net/ipv6/conf/all/disable_ipv6 || true");
	linux_rig_sh("echo 1 2>/dev/null >/proc/sys/net/ipv6/conf/default/disable_ipv6 || true");
	linux_rig_sh("ip link set lo up");
	return true;
}

/* ---- commands ---- */

static void __attribute__((format(printf, 2, 0)))
format_command(char *command, const char *format, va_list arguments)
{
	int n = vsnprintf(command, COMMAND_OCTETS, format, arguments);

	ck_assert_int_lt(n, COMMAND_OCTETS);
}

void
linux_rig_sh(const char *format, ...)
{
	char command[COMMAND_OCTETS];
	va_list arguments;

	va_start(arguments, format);
	format_command(command, format, arguments);
	va_end(arguments);
	ck_assert_msg(system(command) == 0, "%s", command);
}

bool
linux_rig_can(const char *format, ...)
{
	char command[COMMAND_OCTETS];
	va_list arguments;

	va_start(arguments, format);
	format_command(command, format, arguments);
	va_end(arguments);
	strcat(command, " >/dev/null 2>&1");
	return system(command) == 0;
}

json_t *
linux_rig_json(const char *format, ...)
{
	char command[COMMAND_OCTETS];
	json_error_t error;
	va_list arguments;
	json_t *json;
	FILE *pipe;

	va_start(arguments, format);
	format_command(command, format, arguments);
	va_end(arguments);
	pipe = popen(command, "r");
	ck_assert_ptr_nonnull(pipe);
	json = json_loadf(pipe, 0, &error);
	ck_assert_msg(json != NULL, "%s: %s", command, error.text);
	pclose(pipe);
	return json;
}

/* ---- a socket that sends frames ---- */

/* Kept open from one call to the next: closing one waits for every processor. */
static struct {
	char interface[IFNAMSIZ];
	int fd;
} open_sender = {.fd = -1};

static void
close_sender(void)
{
	if (open_sender.fd >= 0)
		close(open_sender.fd);
	open_sender.fd = -1;
}

static int
sender(const char *interface)
{
	struct sockaddr_ll to = {.sll_family = AF_PACKET, .sll_ifindex = (int)if_nametoindex(interface)};

	if (open_sender.fd >= 0 && strcmp(open_sender.interface, interface) == 0)
		return open_sender.fd;
	close_sender();
	open_sender.fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	ck_assert_int_ge(open_sender.fd, 0);
	ck_assert_int_eq(bind(open_sender.fd, (struct sockaddr *)&to, sizeof(to)), 0);
	snprintf(open_sender.interface, sizeof(open_sender.interface), "%s", interface);
	return open_sender.fd;
}

/* ---- the device ---- */

static void
on_port(void *ctx, const struct hal_port_event *event)
{
	struct linux_rig *rig = ctx;

	if (rig->n_changes < LINUX_RIG_CHANGES)
		rig->changed[rig->n_changes] = event->if_index;
	rig->n_changes++;
}

static void
on_new_address(void *ctx, const struct ease_address *address)
{
	struct linux_rig *rig = ctx;

	rig->n_new_addresses++;
	rig->newest = *address;
}

void
linux_rig_start(struct linux_rig *rig)
{
	char error[256];

	if (!rig->config.clock)
		rig->config.clock = &clock_system;
	if (rig->config.n_kept > 0)
		rig->config.ifindex = LINKS_STABLE_NUMBERS;
	ck_assert_msg(linux_create(&rig->config, &rig->device, error, sizeof(error)) == 0, "%s",
	    error);
	ck_assert_int_eq(hal_create(rig->device, &clock_system, &rig->hal), 0);
	rig->listener.ctx = rig;
	if (!rig->listener.port)
		rig->listener.port = on_port;
	rig->listener.new_address = on_new_address;
	hal_set_listener(rig->hal, &rig->listener);
	ck_assert_int_eq(hal_start(rig->hal), 0);
}

void
linux_rig_stop(struct linux_rig *rig)
{
	close_sender();
	hal_destroy(rig->hal);
	rig->hal = NULL;
}

void
linux_rig_settle(struct linux_rig *rig)
{
	struct pollfd fd = {.fd = hal_fd(rig->hal), .events = POLLIN};

	while (poll(&fd, 1, 0) > 0)
		ck_assert_int_ge(hal_dispatch(rig->hal, 64), 0);
}

const struct hal_port *
linux_rig_port(struct linux_rig *rig, const char *name)
{
	static struct hal_port port;
	struct hal_counters counters;

	for (size_t i = 0; i < hal_n_ports(rig->hal); i++) {
		uint32_t if_index = hal_port_if_index(rig->hal, i);

		ck_assert_int_eq(hal_read_counters(rig->hal, if_index, &counters), 0);
		ck_assert_int_eq(hal_port_info(rig->hal, if_index, &port), 0);
		if (strcmp(port.name, name) == 0)
			return &port;
	}
	return NULL;
}

uint64_t
linux_rig_stat(struct linux_rig *rig, const char *name)
{
	const struct stat_set *set = linux_stats(rig->device);

	for (size_t i = 0; i < set->n; i++)
		if (strcmp(set->names[i].name, name) == 0)
			return set->values[i];
	ck_abort_msg("no counter %s", name);
}

/* ---- compared with ip ---- */

static uint64_t
number(json_t *link, const char *side, const char *name)
{
	json_t *value = json_object_get(json_object_get(json_object_get(link, "stats64"), side), name);

	ck_assert_msg(json_is_integer(value), "ip says no %s.%s", side, name);
	return (uint64_t)json_integer_value(value);
}

static const char *
text(json_t *link, const char *name)
{
	const char *value = json_string_value(json_object_get(link, name));

	return value ? value : "";
}

static bool
has_flag(json_t *link, const char *flag)
{
	json_t *flags = json_object_get(link, "flags");
	size_t i;
	json_t *value;

	json_array_foreach(flags, i, value)
		if (strcmp(json_string_value(value), flag) == 0)
			return true;
	return false;
}

/* Where the port differs from what ip says, in words; "" nowhere. */
struct difference {
	char text[160];
};

static void __attribute__((format(printf, 3, 4)))
note_if(struct difference *d, bool differs, const char *format, ...)
{
	va_list arguments;

	if (!differs || d->text[0] != '\0')
		return;
	va_start(arguments, format);
	vsnprintf(d->text, sizeof(d->text), format, arguments);
	va_end(arguments);
}

static void
compare_counters(json_t *link, const struct hal_counters *c, struct difference *d)
{
	const struct {
		enum hal_figure figure;
		uint64_t is;
	} rows[] = {
	    {HAL_IN_OCTETS, number(link, "rx", "bytes") + FCS_OCTETS * number(link, "rx", "packets")},
	    {HAL_OUT_OCTETS, number(link, "tx", "bytes") + FCS_OCTETS * number(link, "tx", "packets")},
	    {HAL_IN_UCAST_PKTS, number(link, "rx", "packets") - number(link, "rx", "multicast")},
	    {HAL_IN_MCAST_PKTS, number(link, "rx", "multicast")},
	    {HAL_OUT_UCAST_PKTS, number(link, "tx", "packets")},
	    {HAL_IN_DISCARDS, number(link, "rx", "dropped") + number(link, "rx", "missed_errors")},
	    {HAL_IN_ERRORS, number(link, "rx", "errors")},
	    {HAL_OUT_DISCARDS, number(link, "tx", "dropped")},
	    {HAL_OUT_ERRORS, number(link, "tx", "errors")},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		enum hal_figure figure = rows[i].figure;

		ck_assert(c->known & 1ull << figure);
		note_if(d, c->value[figure] != rows[i].is, "%s: figure %d is %llu, ip says %llu",
		    text(link, "ifname"), figure, (unsigned long long)c->value[figure],
		    (unsigned long long)rows[i].is);
	}
	/* What the kernel does not tell is not there, rather than 0. */
	ck_assert(!(c->known & (1ull << HAL_IN_BCAST_PKTS | 1ull << HAL_OUT_MCAST_PKTS |
	    1ull << HAL_OUT_BCAST_PKTS | 1ull << HAL_FCS_ERRORS | 1ull << HAL_RMON_PKTS)));
}

static uint8_t
oper_status_of(json_t *link, const struct hal_port *port)
{
	const struct {
		const char *said;
		uint8_t status;
	} rows[] = {{"UP", EASE_IF_UP}, {"DOWN", EASE_IF_DOWN}, {"DORMANT", EASE_IF_DORMANT},
	    {"LOWERLAYERDOWN", port->lower ? EASE_IF_LOWER_LAYER_DOWN : EASE_IF_DOWN}}; /* a veth has nothing below */

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (strcmp(text(link, "operstate"), rows[i].said) == 0)
			return rows[i].status;
	return port->oper_status; /* a driver that does not say: ours to choose */
}

static void
compare_port(json_t *link, const struct hal_port *port, struct difference *d)
{
	const char *name = text(link, "ifname");
	char mac[24];

	snprintf(mac, sizeof(mac), "%02x:%02x:%02x:%02x:%02x:%02x", port->mac[0], port->mac[1],
	    port->mac[2], port->mac[3], port->mac[4], port->mac[5]);
	note_if(d, strcmp(mac, text(link, "address")) != 0, "%s: address %s", name, mac);
	note_if(d, strcmp(port->alias, text(link, "ifalias")) != 0, "%s: alias %s", name,
	    port->alias);
	note_if(d, port->mtu_octets != json_integer_value(json_object_get(link, "mtu")),
	    "%s: MTU %u", name, port->mtu_octets);
	note_if(d, port->admin_status != (has_flag(link, "UP") ? EASE_IF_UP : EASE_IF_DOWN),
	    "%s: admin status %u", name, port->admin_status);
	note_if(d, port->oper_status != oper_status_of(link, port), "%s: oper status %u", name,
	    port->oper_status);
	compare_counters(link, &port->counters, d);
}

static void
compare_all(struct linux_rig *rig, struct difference *d)
{
	json_t *links = linux_rig_json("ip -s -s -j link show"), *link;
	size_t i, n = 0;

	linux_rig_settle(rig);
	json_array_foreach(links, i, link) {
		const char *name = text(link, "ifname");
		const struct hal_port *port = linux_rig_port(rig, name);
		bool ethernet = strcmp(text(link, "link_type"), "ether") == 0;

		note_if(d, port == NULL, "%s is not there", name);
		note_if(d, port && port->not_ethernet == ethernet, "%s: is Ethernet or not", name);
		if (ethernet && port)
			compare_port(link, port, d);
		n++;
	}
	note_if(d, n != hal_n_ports(rig->hal), "%zu ports, ip shows %zu", hal_n_ports(rig->hal), n);
	json_decref(links);
}

/* The kernel lets a change of carrier be seen up to a second later, by both of us in turn. */
void
linux_rig_expect_as_ip(struct linux_rig *rig)
{
	struct difference d = {""};

	for (int tries = 0; tries < WAIT_TRIES; tries++) {
		d.text[0] = '\0';
		compare_all(rig, &d);
		if (d.text[0] == '\0')
			return;
		usleep(WAIT_US);
	}
	ck_abort_msg("%s", d.text);
}

void
linux_rig_expect_oper_status(struct linux_rig *rig, const char *name, uint8_t status)
{
	const struct hal_port *port = NULL;

	for (int tries = 0; tries < WAIT_TRIES; tries++) {
		linux_rig_settle(rig);
		port = linux_rig_port(rig, name);
		if (port && port->oper_status == status)
			return;
		usleep(WAIT_US);
	}
	ck_abort_msg("%s: oper status %d instead of %u", name, port ? port->oper_status : 0, status);
}

void
linux_rig_expect_new_addresses(struct linux_rig *rig, size_t n)
{
	for (int tries = 0; tries < WAIT_TRIES && rig->n_new_addresses < n; tries++) {
		linux_rig_settle(rig);
		usleep(WAIT_US);
	}
	ck_assert_uint_eq(rig->n_new_addresses, n);
}

/* ---- compared with bridge ---- */

struct known_address {
	char text[64];
};

struct known_addresses {
	struct known_address *items;
	size_t n;
};

static void
know(struct known_addresses *list, unsigned vlan, const char *mac, const char *port,
    const char *state)
{
	if ((list->n & (list->n - 1)) == 0)
		list->items = realloc(list->items, (2 * list->n + 1) * sizeof(*list->items));
	ck_assert_ptr_nonnull(list->items);
	snprintf(list->items[list->n++].text, sizeof(list->items[0].text), "%u %s %s %s", vlan, mac,
	    port, state);
}

static int
compare_text(const void *a, const void *b)
{
	return strcmp(a, b);
}

static void
sort(struct known_addresses *list)
{
	if (list->n > 0)
		qsort(list->items, list->n, sizeof(*list->items), compare_text);
}

static bool
filters_vlans(json_t *bridges, const char *name)
{
	json_t *bridge, *data;
	size_t i;

	json_array_foreach(bridges, i, bridge) {
		data = json_object_get(json_object_get(bridge, "linkinfo"), "info_data");
		if (strcmp(text(bridge, "ifname"), name) == 0)
			return json_integer_value(json_object_get(data, "vlan_filtering")) != 0;
	}
	return false;
}

/* Entries of the bridge itself, not of the cards' own filters, and of VLANs only where it takes notice of them. */
static struct known_addresses
addresses_of_bridge(void)
{
	json_t *all = linux_rig_json("bridge -j fdb show"), *entry;
	json_t *bridges = linux_rig_json("ip -d -j link show type bridge");
	struct known_addresses list = {0};
	size_t i;

	json_array_foreach(all, i, entry) {
		const char *state = text(entry, "state");

		if (has_flag(entry, "self") ||
		    (json_object_get(entry, "vlan") && !filters_vlans(bridges, text(entry, "master"))))
			continue;
		know(&list, (unsigned)json_integer_value(json_object_get(entry, "vlan")),
		    text(entry, "mac"), text(entry, "ifname"),
		    strcmp(state, "permanent") == 0 ? "self"
			: strcmp(state, "static") == 0 ? "mgmt"
						       : "learned");
	}
	json_decref(all);
	json_decref(bridges);
	sort(&list);
	return list;
}

static struct known_addresses
addresses_of_device(struct linux_rig *rig)
{
	static const char *const states[] = {[HAL_ADDRESS_LEARNED] = "learned",
	    [HAL_ADDRESS_SELF] = "self", [HAL_ADDRESS_MGMT] = "mgmt"};
	struct known_addresses list = {0};
	const struct hal_snapshot *snapshot;

	ck_assert_int_eq(hal_refresh(rig->hal, 0), 0);
	snapshot = hal_snapshot_hold(rig->hal);
	for (size_t i = 0; i < snapshot->n_addresses; i++) {
		const struct hal_address *a = &snapshot->addresses[i];
		char mac[24];

		if ((i < snapshot->n_common_addresses) != (a->vlan == 0))
			continue; /* it is there twice */
		snprintf(mac, sizeof(mac), "%02x:%02x:%02x:%02x:%02x:%02x", a->mac[0], a->mac[1],
		    a->mac[2], a->mac[3], a->mac[4], a->mac[5]);
		know(&list, a->vlan, mac, hal_snapshot_port(snapshot, a->if_index)->name,
		    states[a->status]);
	}
	hal_snapshot_release(snapshot);
	sort(&list);
	return list;
}

static void
compare_addresses(struct linux_rig *rig, struct difference *d)
{
	struct known_addresses theirs = addresses_of_bridge(), ours;

	linux_rig_settle(rig);
	ours = addresses_of_device(rig);
	note_if(d, theirs.n != ours.n, "%zu addresses, bridge shows %zu", ours.n, theirs.n);
	for (size_t i = 0; i < ours.n && i < theirs.n; i++)
		note_if(d, strcmp(ours.items[i].text, theirs.items[i].text) != 0,
		    "%s, bridge shows %s", ours.items[i].text, theirs.items[i].text);
	free(ours.items);
	free(theirs.items);
}

void
linux_rig_expect_as_bridge(struct linux_rig *rig)
{
	struct difference d = {""};

	for (int tries = 0; tries < WAIT_TRIES; tries++) {
		d.text[0] = '\0';
		compare_addresses(rig, &d);
		if (d.text[0] == '\0')
			return;
		usleep(WAIT_US);
	}
	ck_abort_msg("%s", d.text);
}

/* ---- traffic ---- */

void
linux_rig_send(const char *interface, const uint8_t mac[6], size_t octets, unsigned n,
    unsigned n_sources)
{
	static uint8_t frames[SEND_BATCH][FRAME_OCTETS];
	struct iovec parts[SEND_BATCH];
	struct mmsghdr messages[SEND_BATCH];
	int fd = sender(interface);
	unsigned sent = 0;
	uint32_t source;

	ck_assert_uint_le(octets, FRAME_OCTETS);
	memset(messages, 0, sizeof(messages));
	while (sent < n) {
		unsigned batch = n - sent < SEND_BATCH ? n - sent : SEND_BATCH;
		int done;

		for (unsigned i = 0; i < batch; i++) {
			memcpy(frames[i], mac, 6);
			source = htonl((sent + i) % n_sources);
			memcpy(frames[i] + 6, "\x02\x10", 2);
			memcpy(frames[i] + 8, &source, 4);
			memcpy(frames[i] + 12, "\x88\xb5", 2); /* local experiments (IEEE 802) */
			memcpy(frames[i] + 14, &(uint32_t){htonl(sent + i)}, 4);
			parts[i] = (struct iovec){frames[i], octets};
			messages[i].msg_hdr.msg_iov = &parts[i];
			messages[i].msg_hdr.msg_iovlen = 1;
		}
		done = sendmmsg(fd, messages, batch, 0);
		ck_assert_msg(done > 0, "%s: %s", interface, strerror(errno));
		sent += (unsigned)done;
	}
}
