#include "agent/linux/driver_info.h"

#include <errno.h>
#include <limits.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

void
driver_name(const char *interface, char name[DRIVER_NAME_MAX + 1])
{
	char link[PATH_MAX], target[PATH_MAX];
	const char *last;
	ssize_t n;

	name[0] = '\0';
	snprintf(link, sizeof(link), "/sys/class/net/%s/device/driver", interface);
	n = readlink(link, target, sizeof(target) - 1);
	if (n < 0)
		return;
	target[n] = '\0';
	last = strrchr(target, '/');
	snprintf(name, DRIVER_NAME_MAX + 1, "%.*s", DRIVER_NAME_MAX, last ? last + 1 : target);
}

void
driver_devtype(const char *interface, char type[DRIVER_NAME_MAX + 1])
{
	char path[PATH_MAX], line[128];
	FILE *file;

	type[0] = '\0';
	snprintf(path, sizeof(path), "/sys/class/net/%s/uevent", interface);
	file = fopen(path, "re");
	if (!file)
		return;
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "DEVTYPE=%63[^\n]", type) == 1)
			break;
	fclose(file);
}

/* ---- the ioctl ---- */

enum { ROOM = 4 * DRIVER_STRINGS_MAX }; /* the kernel writes as many as the driver has then, whatever it was told */

static int
call_ethtool(int fd, const char *interface, void *command)
{
	struct ifreq request = {.ifr_data = command};

	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", interface);
	return ioctl(fd, SIOCETHTOOL, &request) < 0 ? -errno : 0;
}

static int
count_strings(int fd, const char *interface, uint32_t *n)
{
	union {
		struct ethtool_sset_info head;
		uint8_t room[sizeof(struct ethtool_sset_info) + sizeof(uint32_t)];
	} info = {.head = {.cmd = ETHTOOL_GSSET_INFO, .sset_mask = 1ull << ETH_SS_STATS}};
	int rc = call_ethtool(fd, interface, &info);

	if (rc < 0)
		return rc;
	*n = info.head.sset_mask ? info.head.data[0] : 0;
	return *n == 0 ? -EOPNOTSUPP : *n > DRIVER_STRINGS_MAX ? -E2BIG : 0;
}

static int
read_both(int fd, const char *interface, struct ethtool_gstrings *names, struct ethtool_stats *values,
    struct driver_strings *strings)
{
	uint32_t n = 0;
	int rc = count_strings(fd, interface, &n);

	if (rc < 0)
		return rc;
	*names = (struct ethtool_gstrings){.cmd = ETHTOOL_GSTRINGS, .string_set = ETH_SS_STATS, .len = n};
	*values = (struct ethtool_stats){.cmd = ETHTOOL_GSTATS, .n_stats = n};
	rc = call_ethtool(fd, interface, names);
	if (rc == 0)
		rc = call_ethtool(fd, interface, values);
	if (rc == 0 && (names->len != n || values->n_stats != n))
		rc = -EAGAIN; /* the driver has others now */
	if (rc < 0)
		return rc;
	strings->n = n;
	memcpy(strings->names, names->data, n * sizeof(strings->names[0]));
	memcpy(strings->values, values->data, n * sizeof(strings->values[0]));
	return 0;
}

int
driver_strings_read(const char *interface, struct driver_strings *strings)
{
	struct ethtool_gstrings *names = calloc(1, sizeof(*names) + (size_t)ROOM * ETH_GSTRING_LEN);
	struct ethtool_stats *values = calloc(1, sizeof(*values) + ROOM * sizeof(uint64_t));
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int rc = fd < 0 ? -errno : names && values ? 0 : -ENOMEM;

	strings->n = 0;
	if (rc == 0)
		rc = read_both(fd, interface, names, values, strings);
	if (fd >= 0)
		close(fd);
	free(names);
	free(values);
	return rc;
}

/* ---- known families ---- */

struct known_string {
	enum hal_figure figure;
	const char *name;
};

/* Each family begins with these eight figures, in this order. Octets have the FCS in. */
enum { BASE = 8 };

/* drivers/net/dsa/mv88e6xxx/chip.c. The sizes are left out: they may be those of both directions. */
static const struct known_string marvell[] = {
    {HAL_IN_OCTETS, "in_good_octets"}, {HAL_IN_UCAST_PKTS, "in_unicast"}, {HAL_IN_MCAST_PKTS, "in_multicasts"},
    {HAL_IN_BCAST_PKTS, "in_broadcasts"}, {HAL_OUT_OCTETS, "out_octets"}, {HAL_OUT_UCAST_PKTS, "out_unicast"},
    {HAL_OUT_MCAST_PKTS, "out_multicasts"}, {HAL_OUT_BCAST_PKTS, "out_broadcasts"},
    {HAL_IN_PAUSE_PKTS, "in_pause"}, {HAL_OUT_PAUSE_PKTS, "out_pause"}, {HAL_FCS_ERRORS, "in_fcs_error"},
    {HAL_DEFERRED, "deferred"}, {HAL_SINGLE_COLLISIONS, "single"}, {HAL_MULTIPLE_COLLISIONS, "multiple"},
    {HAL_LATE_COLLISIONS, "late"}, {HAL_EXCESSIVE_COLLISIONS, "excessive"}, {HAL_IN_DISCARDS, "sw_in_discards"},
    {HAL_N_FIGURES, NULL},
};

/* drivers/net/dsa/mt7530.c before it had the group eth-mac. */
static const struct known_string mediatek[] = {
    {HAL_IN_OCTETS, "RxBytes"}, {HAL_IN_UCAST_PKTS, "RxUnicast"}, {HAL_IN_MCAST_PKTS, "RxMulticast"},
    {HAL_IN_BCAST_PKTS, "RxBroadcast"}, {HAL_OUT_OCTETS, "TxBytes"}, {HAL_OUT_UCAST_PKTS, "TxUnicast"},
    {HAL_OUT_MCAST_PKTS, "TxMulticast"}, {HAL_OUT_BCAST_PKTS, "TxBroadcast"},
    {HAL_IN_PAUSE_PKTS, "RxPause"}, {HAL_OUT_PAUSE_PKTS, "TxPause"}, {HAL_FCS_ERRORS, "RxCrcErr"},
    {HAL_ALIGNMENT_ERRORS, "RxAlignErr"}, {HAL_DEFERRED, "TxDeferred"}, {HAL_LATE_COLLISIONS, "TxLateCollision"},
    {HAL_SINGLE_COLLISIONS, "TxSingleCollision"}, {HAL_MULTIPLE_COLLISIONS, "TxMultipleCollision"},
    {HAL_IN_DISCARDS, "RxDrop"}, {HAL_OUT_DISCARDS, "TxDrop"}, {HAL_N_FIGURES, NULL},
};

/* drivers/net/dsa/b53/b53_common.c, with bcm_sf2. */
static const struct known_string broadcom[] = {
    {HAL_IN_OCTETS, "RxGoodOctets"}, {HAL_IN_UCAST_PKTS, "RxUnicastPkts"}, {HAL_IN_MCAST_PKTS, "RxMulticastPkts"},
    {HAL_IN_BCAST_PKTS, "RxBroadcastPkts"}, {HAL_OUT_OCTETS, "TxOctets"}, {HAL_OUT_UCAST_PKTS, "TxUnicastPkts"},
    {HAL_OUT_MCAST_PKTS, "TxMulticastPkts"}, {HAL_OUT_BCAST_PKTS, "TxBroadcastPkts"},
    {HAL_IN_PAUSE_PKTS, "RxPausePkts"}, {HAL_OUT_PAUSE_PKTS, "TxPausePkts"}, {HAL_FCS_ERRORS, "RxFCSErrors"},
    {HAL_ALIGNMENT_ERRORS, "RxAlignmentErrors"}, {HAL_SINGLE_COLLISIONS, "TxSingleCollision"},
    {HAL_MULTIPLE_COLLISIONS, "TxMultipleCollision"}, {HAL_DEFERRED, "TxDeferredTransmit"},
    {HAL_LATE_COLLISIONS, "TxLateCollision"}, {HAL_IN_DISCARDS, "RxDropPkts"}, {HAL_OUT_DISCARDS, "TxDropPkts"},
    {HAL_N_FIGURES, NULL},
};

/* drivers/net/dsa/microchip/ksz_common.c. */
static const struct known_string microchip[] = {
    {HAL_IN_OCTETS, "rx_total"}, {HAL_IN_UCAST_PKTS, "rx_ucast"}, {HAL_IN_MCAST_PKTS, "rx_mcast"},
    {HAL_IN_BCAST_PKTS, "rx_bcast"}, {HAL_OUT_OCTETS, "tx_total"}, {HAL_OUT_UCAST_PKTS, "tx_ucast"},
    {HAL_OUT_MCAST_PKTS, "tx_mcast"}, {HAL_OUT_BCAST_PKTS, "tx_bcast"},
    {HAL_IN_PAUSE_PKTS, "rx_pause"}, {HAL_OUT_PAUSE_PKTS, "tx_pause"}, {HAL_FCS_ERRORS, "rx_crc_err"},
    {HAL_ALIGNMENT_ERRORS, "rx_align_err"}, {HAL_DEFERRED, "tx_deferred"}, {HAL_LATE_COLLISIONS, "tx_late_col"},
    {HAL_SINGLE_COLLISIONS, "tx_single_col"}, {HAL_MULTIPLE_COLLISIONS, "tx_mult_col"},
    {HAL_IN_DISCARDS, "rx_discards"}, {HAL_OUT_DISCARDS, "tx_discards"}, {HAL_N_FIGURES, NULL},
};

static const struct known_string *const families[] = {marvell, mediatek, broadcom, microchip};

static bool
find_string(const struct driver_strings *strings, const char *name, uint64_t *value)
{
	for (size_t i = 0; i < strings->n; i++)
		if (strncmp(strings->names[i], name, ETH_GSTRING_LEN) == 0) {
			*value = strings->values[i];
			return true;
		}
	return false;
}

static void
put_driver_figure(struct hal_counters *figures, enum hal_figure figure, uint64_t value)
{
	figures->value[figure] = value;
	figures->known |= 1ull << figure;
}

static bool
driver_take_family(const struct driver_strings *strings, const struct known_string *family, struct hal_counters *figures)
{
	struct hal_counters parsed = *figures;
	uint64_t value;

	for (size_t i = 0; family[i].name; i++) {
		if (find_string(strings, family[i].name, &value))
			put_driver_figure(&parsed, family[i].figure, value);
		else if (i < BASE)
			return false;
	}
	put_driver_figure(&parsed, HAL_POOL_IN_PKTS, parsed.value[HAL_IN_UCAST_PKTS] + parsed.value[HAL_IN_MCAST_PKTS] +
	    parsed.value[HAL_IN_BCAST_PKTS]);
	put_driver_figure(&parsed, HAL_POOL_OUT_PKTS, parsed.value[HAL_OUT_UCAST_PKTS] + parsed.value[HAL_OUT_MCAST_PKTS] +
	    parsed.value[HAL_OUT_BCAST_PKTS]);
	*figures = parsed;
	return true;
}

int
driver_strings_parse(const struct driver_strings *strings, struct hal_counters *figures)
{
	for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++)
		if (driver_take_family(strings, families[i], figures))
			return 0;
	return -ENOENT;
}
