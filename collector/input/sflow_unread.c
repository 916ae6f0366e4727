#include "collector/input/sflow_unread.h"

#include "common/sorted.h"

/* Sorted by format. Names are those of the structures that sFlow.org publishes. */
#define FLOW_RECORDS(X) \
	X(1002, "extended router") \
	X(1004, "extended user") \
	X(1005, "extended URL") \
	X(1006, "extended MPLS") \
	X(1007, "extended NAT") \
	X(1008, "extended MPLS tunnel") \
	X(1009, "extended MPLS virtual circuit") \
	X(1010, "extended MPLS FEC") \
	X(1011, "extended MPLS LDP FEC") \
	X(1013, "extended 802.11 payload") \
	X(1014, "extended 802.11 reception") \
	X(1015, "extended 802.11 transmission") \
	X(1016, "extended 802.11 aggregation") \
	X(1020, "extended NAT ports") \
	X(1021, "layer 2 tunnel, egress") \
	X(1022, "layer 2 tunnel, ingress") \
	X(1023, "IPv4 tunnel, egress") \
	X(1024, "IPv4 tunnel, ingress") \
	X(1025, "IPv6 tunnel, egress") \
	X(1026, "IPv6 tunnel, ingress") \
	X(1027, "decapsulation, egress") \
	X(1028, "decapsulation, ingress") \
	X(1029, "VNI, egress") \
	X(1030, "VNI, ingress") \
	X(1036, "egress queue") \
	X(1037, "access list") \
	X(1038, "function") \
	X(1039, "transit delay") \
	X(1040, "queue depth") \
	X(1041, "hardware trap") \
	X(1042, "Linux drop reason") \
	X(1043, "time stamp") \
	X(2100, "IPv4 socket") \
	X(2101, "IPv6 socket") \
	X(2102, "IPv4 proxy socket") \
	X(2103, "IPv6 proxy socket") \
	X(2200, "Memcache operation") \
	X(2202, "application operation") \
	X(2206, "HTTP request") \
	X(2209, "TCP connection")
#define COUNTER_RECORDS(X) \
	X(3, "token ring") \
	X(4, "100VG") \
	X(5, "VLAN") \
	X(6, "802.11") \
	X(9, "InfiniBand") \
	X(10, "optical module") \
	X(11, "priority flow control") \
	X(1001, "processor") \
	X(1002, "radio utilization") \
	X(1004, "OpenFlow port") \
	X(2000, "host description") \
	X(2001, "host adapters") \
	X(2002, "host parent") \
	X(2003, "host processor") \
	X(2004, "host memory") \
	X(2005, "host disk") \
	X(2006, "host network") \
	X(2007, "host IP") \
	X(2008, "host ICMP") \
	X(2009, "host TCP") \
	X(2010, "host UDP") \
	X(2100, "virtual node") \
	X(2101, "virtual processor") \
	X(2102, "virtual memory") \
	X(2103, "virtual disk") \
	X(2104, "virtual network") \
	X(2207, "Open vSwitch datapath")

/* What is read, and may be spoiled. */
#define FLOW_READ(X) \
	X(1, "header") \
	X(2, "Ethernet") \
	X(3, "IPv4") \
	X(4, "IPv6") \
	X(1001, "switch") \
	X(1003, "gateway") \
	X(1012, "VLAN tunnel") \
	X(1036, "egress queue") \
	X(1038, "function") \
	X(1039, "transit delay") \
	X(1040, "queue depth") \
	X(1041, "hardware trap") \
	X(1042, "Linux drop reason")
#define COUNTER_READ(X) \
	X(1, "interface") \
	X(2, "Ethernet") \
	X(7, "LACP") \
	X(1005, "port name")

#define FORMAT(number, name) number,
static const uint32_t flow_formats[] = {FLOW_RECORDS(FORMAT)};
static const uint32_t counter_formats[] = {COUNTER_RECORDS(FORMAT)};
static const uint32_t flow_read[] = {FLOW_READ(FORMAT)};
static const uint32_t counter_read[] = {COUNTER_READ(FORMAT)};

#define N(array) (sizeof(array) / sizeof((array)[0]))
enum {
	FIRST_COUNTER = N(flow_formats) + 1, /* behind each list one counts all others */
	FIRST_FLOW_SPOILED = FIRST_COUNTER + N(counter_formats) + 1,
	FIRST_COUNTER_SPOILED = FIRST_FLOW_SPOILED + N(flow_read) + 1,
	N_STATS = FIRST_COUNTER_SPOILED + N(counter_read) + 1,
};
_Static_assert((int)N_STATS <= (int)SFLOW_UNREAD_FORMATS, "more formats than counters");

#define FLOW(number, name)    {"sflow.unread_flow_" #number, "flow records " #number " (" name "), not used"},
#define COUNTER(number, name) {"sflow.unread_counters_" #number, "counter records " #number " (" name "), not used"},
#define FLOW_BAD(number, name) \
	{"sflow.spoiled_flow_" #number, "flow records " #number " (" name ") shorter than their format, not used"},
#define COUNTER_BAD(number, name) \
	{"sflow.spoiled_counters_" #number, "counter records " #number " (" name ") shorter than their format, not used"},
static const struct stat_name stat_names[N_STATS] = {
    FLOW_RECORDS(FLOW)
    {"sflow.unread_flow_other", "flow records of other formats, not used"},
    COUNTER_RECORDS(COUNTER)
    {"sflow.unread_counters_other", "counter records of other formats, not used"},
    FLOW_READ(FLOW_BAD)
    {"sflow.spoiled_flow_other", "further spoiled flow records of one sample, not used"},
    COUNTER_READ(COUNTER_BAD)
    {"sflow.spoiled_counters_other", "further spoiled counter records of one sample, not used"},
};

void
sflow_unread_init(struct sflow_unread *u)
{
	u->stats = (struct stat_set){stat_names, N_STATS, u->values};
}

static const struct list {
	const uint32_t *formats;
	size_t n;
	unsigned first; /* its row */
} lists[2][2] = {/* flow and counter records; that are not read, and that are spoiled */
    {{flow_formats, N(flow_formats), 0}, {flow_read, N(flow_read), FIRST_FLOW_SPOILED}},
    {{counter_formats, N(counter_formats), FIRST_COUNTER}, {counter_read, N(counter_read), FIRST_COUNTER_SPOILED}},
};

static void
count_all(struct sflow_unread *u, const struct list *list, uint32_t n, const uint32_t formats[static SFLOW_UNREAD_MAX])
{
	uint32_t named = n < SFLOW_UNREAD_MAX ? n : SFLOW_UNREAD_MAX;

	for (uint32_t i = 0; i < named; i++) {
		size_t at = sorted_position_of(list->formats, list->n, sizeof(*list->formats), 0, formats[i]);

		if (at == list->n || list->formats[at] != formats[i])
			at = list->n;
		stat_add_own(&u->stats, list->first + (unsigned)at, 1);
	}
	if (n > named)
		stat_add_own(&u->stats, list->first + (unsigned)list->n, n - named);
}

void
sflow_unread_count(struct sflow_unread *u, const struct sflow_sample *s)
{
	const struct list *of_kind = lists[s->kind == SFLOW_COUNTERS];

	count_all(u, &of_kind[0], s->n_unread, s->unread);
	count_all(u, &of_kind[1], s->n_spoiled, s->spoiled);
}
