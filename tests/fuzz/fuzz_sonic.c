/*
 * What Redis says to the SONiC device: its words are read as the connection reads them (resp.h, libhiredis) and given
 * to whatever the device has asked, in order; the connection itself is played here. Before that the input is taken for the key of an address and for a
 * database_config.json. Whatever it is, every row that is served can be read, and a number that is there is one.
 */
#include "agent/hal/hal.h"
#include "agent/sonic/addresses.h"
#include "agent/sonic/database_config.h"
#include "agent/sonic/resp.h"
#include "agent/sonic/sonic_device.h"
#include "common/log.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* ---- connections, played ---- */

enum { QUEUE = 4096, NOTICES = 8, LINKS = 16 };

struct redis_link {
	const struct redis_listener *listener;
	bool up;
};

static struct redis_link links[LINKS];
static size_t n_links, first, n_asked, n_notices;
static struct asked {
	redis_answer *answer;
	void *request;
} asked[QUEUE], notices[NOTICES];

int
redis_link_create(const char *name, const struct redis_address *address, int epoll_fd,
    const struct redis_listener *listener, struct redis_link **link)
{
	(void)name;
	(void)address;
	(void)epoll_fd;
	if (n_links == LINKS)
		abort();
	*link = &links[n_links++];
	**link = (struct redis_link){.listener = listener};
	return 0;
}

void
redis_link_destroy(struct redis_link *link)
{
	(void)link;
	while (first < n_asked) {
		first++;
		asked[first - 1].answer(asked[first - 1].request, NULL);
	}
}

bool
redis_link_is_up(const struct redis_link *link)
{
	return link->up;
}

void
redis_link_step(struct redis_link *link, uint64_t now_us)
{
	(void)now_us;
	if (link->up)
		return;
	link->up = true;
	link->listener->up(link->listener->ctx, link);
}

void
redis_link_ready(struct redis_link *link, uint32_t events, uint64_t now_us)
{
	(void)link;
	(void)events;
	(void)now_us;
}

int
redis_link_ask(struct redis_link *link, redis_answer *answer, void *request, int n, const char *const words[],
    const size_t octets[])
{
	(void)link;
	for (int i = 0; i < n; i++)
		if (octets[i] > 0 && words[i] == NULL)
			abort();
	if (n_asked == QUEUE)
		return -ENOMEM;
	asked[n_asked++] = (struct asked){answer, request};
	return 0;
}

int
redis_link_subscribe(struct redis_link *link, redis_answer *answer, void *request, const char *pattern)
{
	(void)link;
	(void)pattern;
	if (n_notices < NOTICES)
		notices[n_notices++] = (struct asked){answer, request};
	return 0;
}

/* ---- what is read ---- */

/* Each kind: what is taken is what the kind says it is. */
static void
try_lldp(const char *text, size_t size)
{
	struct lldp_id id;

	for (unsigned kind = 0; kind <= LLDP_KIND_MAX + 1; kind++) {
		bool is_id = lldp_chassis_id(&id, kind, text, size);

		if (is_id != (id.kind != 0) || is_id != (id.n_octets != 0) || (is_id && kind == LLDP_CHASSIS_MAC && id.n_octets != 6) ||
		    (is_id && kind == LLDP_CHASSIS_ADDRESS && id.n_octets != 5 && id.n_octets != 17))
			abort();
		is_id = lldp_port_id(&id, kind, text, size);
		if (is_id && kind == LLDP_PORT_LOCAL && (id.n_octets != size || memcmp(id.octets, text, size) != 0))
			abort();
	}
}

static void
try_texts(const char *text, size_t size)
{
	struct redis_address addresses[SONIC_N_DATABASES];
	char key[2048] = FDB_KEY_PREFIX, error[256];
	size_t head = strlen(key);
	struct fdb_key parsed;

	if (size < sizeof(key) - head) {
		memcpy(key + head, text, size);
		if (fdb_key_parse(key, head + size, &parsed) == 0 && parsed.vlan == 0)
			abort();
	}
	if (database_config_parse(text, size, size % 2, addresses, error, sizeof(error)) == 0)
		for (size_t i = 0; i < SONIC_N_DATABASES; i++)
			if (!memchr(addresses[i].socket, '\0', sizeof(addresses[i].socket)))
				abort();
}

static void
read_rows(struct hal *hal)
{
	const struct hal_snapshot *s;

	if (hal_refresh_all(hal) < 0)
		abort();
	s = hal_snapshot_hold(hal);
	for (size_t i = 0; i < s->n_ports; i++)
		if ((i > 0 && s->ports[i - 1].if_index >= s->ports[i].if_index) || s->ports[i].name[0] == '\0' ||
		    s->ports[i].oper_status < EASE_IF_UP)
			abort();
	for (size_t i = 0; i < s->n_vlan_ranges; i++)
		if (s->vlan_ranges[i].first < 1 || s->vlan_ranges[i].last > HAL_VLAN_MAX ||
		    s->vlan_ranges[i].first > s->vlan_ranges[i].last)
			abort();
	for (size_t i = 1; i < s->structure->n_parts; i++)
		if (s->structure->parts[i - 1].index >= s->structure->parts[i].index)
			abort();
	for (size_t i = 1; i < s->n_sensors; i++)
		if (s->sensors[i - 1].index >= s->sensors[i].index)
			abort();
	for (size_t i = 0; i < s->lldp.n_neighbours; i++) {
		const struct hal_neighbour *n = &s->lldp.neighbours[i];

		if (!s->has_lldp || n->chassis.n_octets == 0 || n->port.n_octets == 0 || n->number == 0 ||
		    (i > 0 && s->lldp.neighbours[i - 1].if_index >= n->if_index))
			abort();
	}
	for (size_t i = 0; i < s->n_addresses; i++)
		if (s->addresses[i].vlan < 1 || s->addresses[i].vlan > HAL_VLAN_MAX)
			abort();
	hal_snapshot_release(s);
}

/* What has arrived in two parts is the same reply. */
static size_t
reply_octets(const char *octets, size_t size)
{
	struct resp_scan whole = {0}, parts = {0};
	int rc = resp_scan(&whole, octets, size), part = resp_scan(&parts, octets, size / 2);

	if (part == 0)
		part = resp_scan(&parts, octets, size);
	if (part != rc || (rc > 0 && (parts.at != whole.at || whole.at == 0 || whole.at > size)))
		abort();
	return rc > 0 ? whole.at : 0;
}

static redisReply *
next_reply(redisReader *reader, const char **octets, size_t *size)
{
	size_t n = reply_octets(*octets, *size);
	void *reply = NULL;

	if (n == 0 || redisReaderFeed(reader, *octets, n) != REDIS_OK ||
	    redisReaderGetReply(reader, &reply) != REDIS_OK)
		return NULL;
	if (!reply)
		abort(); /* libhiredis does not think that it is whole */
	*octets += n;
	*size -= n;
	return reply;
}

/* One reply in four is a notice. */
static void
answer_all(struct hal *hal, struct clock *now, redisReader *reader, const char *octets, size_t size)
{
	redisReply *reply;

	for (unsigned i = 0; (reply = next_reply(reader, &octets, &size)) != NULL; i++) {
		if (i % 4 == 3 && n_notices > 0) {
			notices[i / 4 % n_notices].answer(notices[i / 4 % n_notices].request, reply);
		} else if (first < n_asked) {
			first++;
			asked[first - 1].answer(asked[first - 1].request, reply);
		}
		freeReplyObject(reply);
		if (i % 16 == 15) {
			clock_step_us(now, 1000000);
			hal_dispatch(hal, 0);
		}
	}
}

/* A file in memory. */
static const char *
config_file(void)
{
	static char path[64];
	int fd;

	if (path[0])
		return path;
	fd = memfd_create("database_config", 0);
	dprintf(fd, "{\"INSTANCES\": {\"redis\": {\"unix_socket_path\": \"/none\"}}, \"DATABASES\": {");
	for (size_t i = 0; i < SONIC_N_DATABASES; i++)
		dprintf(fd, "%s\"%s\": {\"id\": %zu, \"instance\": \"redis\"}", i ? ", " : "",
		    sonic_database_names[i], i);
	dprintf(fd, "}}\n");
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return path;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct clock now = {.manual = true, .manual_wall_us = 1, .manual_mono_us = 1000000000};
	struct sonic_config config = {.database_config = config_file(), .clock = &now};
	redisReader *reader;
	struct hal_device *device;
	struct hal *hal;
	char error[256];

	try_texts((const char *)data, size);
	try_lldp((const char *)data, size);
	if (size == 0 || !memchr("*$:-+", data[0], 5))
		return 0; /* no reply begins like this */
	reader = redisReaderCreate();
	n_links = first = n_asked = n_notices = 0;
	log_set_most(LOG_LEVEL_ERROR);
	if (!reader || sonic_create(&config, &device, error, sizeof(error)) < 0 ||
	    hal_create(device, &now, &hal) < 0 || hal_start(hal) < 0)
		abort();
	hal_dispatch(hal, 0);
	answer_all(hal, &now, reader, (const char *)data, size);
	read_rows(hal);
	hal_destroy(hal);
	redisReaderFree(reader);
	return 0;
}
