#include "agent/sim/live_input.h"

#include <errno.h>
#include <pcap/pcap.h>
#include <stdlib.h>
#include <string.h>

struct live_input {
	pcap_t *pcap;
	size_t n; /* of this batch */
	struct savefile_record *records; /* the caller's, during a call */
	uint8_t octets[LIVE_INPUT_BATCH][LIVE_INPUT_SNAP_OCTETS];
};

/* Copies the octets, because the kernel reuses its ring. */
static void
take_packet(uint8_t *user, const struct pcap_pkthdr *header, const uint8_t *octets)
{
	struct live_input *live = (struct live_input *)(void *)user;
	uint32_t captured = header->caplen < LIVE_INPUT_SNAP_OCTETS ? header->caplen : LIVE_INPUT_SNAP_OCTETS;

	memcpy(live->octets[live->n], octets, captured);
	live->records[live->n] = (struct savefile_record){.time_us = SAVEFILE_NO_TIME,
	    .octets = live->octets[live->n], .captured_octets = captured,
	    .length_octets = header->len};
	live->n++;
}

int
live_input_read(struct live_input *live, struct savefile_record *records, size_t max)
{
	int rc;

	live->n = 0;
	live->records = records;
	rc = pcap_dispatch(live->pcap, (int)(max < LIVE_INPUT_BATCH ? max : LIVE_INPUT_BATCH), take_packet,
	    (uint8_t *)live);
	if (rc < 0 && live->n == 0)
		return -EIO;
	return (int)live->n;
}

uint64_t
live_input_lost(struct live_input *live)
{
	struct pcap_stat stat;

	return pcap_stats(live->pcap, &stat) == 0 ? stat.ps_drop : 0;
}

static int
refuse_interface(int rc, const char *interface, const char *reason, char *error, size_t error_size)
{
	snprintf(error, error_size, "live:%s: %s", interface, reason);
	return rc;
}

/* The result of pcap_activate as -errno; 0 for a warning. */
static int
code_of(int rc)
{
	switch (rc) {
	case PCAP_ERROR_NO_SUCH_DEVICE:
		return -ENODEV;
	case PCAP_ERROR_PERM_DENIED:
	case PCAP_ERROR_PROMISC_PERM_DENIED:
		return -EPERM;
	case PCAP_ERROR_IFACE_NOT_UP:
		return -ENETDOWN;
	default:
		return rc < 0 ? -EIO : 0;
	}
}

static int
activate_capture(pcap_t *pcap, const char *interface, char *error, size_t error_size)
{
	char reason[PCAP_ERRBUF_SIZE] = "";
	int rc;

	pcap_set_snaplen(pcap, LIVE_INPUT_SNAP_OCTETS);
	pcap_set_promisc(pcap, 1);
	pcap_set_immediate_mode(pcap, 1);
	pcap_set_buffer_size(pcap, LIVE_INPUT_KERNEL_OCTETS);
	rc = code_of(pcap_activate(pcap));
	if (rc < 0)
		return refuse_interface(rc, interface, rc == -EPERM ? "not permitted: it needs CAP_NET_RAW"
			: rc == -ENODEV ? "there is no such interface"
			: rc == -ENETDOWN ? "it is down"
					  : pcap_geterr(pcap), error, error_size);
	if (pcap_datalink(pcap) != DLT_EN10MB)
		return refuse_interface(-EPROTONOSUPPORT, interface, "it is not Ethernet", error, error_size);
	if (pcap_setdirection(pcap, PCAP_D_IN) < 0)
		return refuse_interface(-EIO, interface, pcap_geterr(pcap), error, error_size);
	if (pcap_setnonblock(pcap, 1, reason) < 0)
		return refuse_interface(-EIO, interface, reason, error, error_size);
	return 0;
}

int
live_input_open(const char *interface, struct live_input **live, char *error, size_t error_size)
{
	char reason[PCAP_ERRBUF_SIZE] = "out of memory";
	struct live_input *l = calloc(1, sizeof(*l));
	int rc;

	if (l)
		l->pcap = pcap_create(interface, reason);
	if (!l || !l->pcap) {
		free(l);
		return refuse_interface(-ENOMEM, interface, reason, error, error_size);
	}
	rc = activate_capture(l->pcap, interface, error, error_size);
	if (rc < 0) {
		live_input_close(l);
		return rc;
	}
	*live = l;
	return 0;
}

void
live_input_close(struct live_input *live)
{
	if (!live)
		return;
	pcap_close(live->pcap);
	free(live);
}
