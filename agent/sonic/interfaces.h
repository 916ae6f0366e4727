/*
 * The interfaces of a SONiC switch as its databases describe them: ports, LAGs, VLAN interfaces and management
 * ports, with the LAG and the VLANs that each is a member of. Pure: no socket, no clock.
 *
 * An interface is remembered from the first key that names it, and is served when its own entry was read. It leaves
 * when a complete pass over the keys did not name it.
 */
#ifndef EASE_AGENT_SONIC_INTERFACES_H
#define EASE_AGENT_SONIC_INTERFACES_H

#include "agent/hal/hal.h"

/* ---- numbers ----
 * The ifIndex that SONiC gives to an interface by its name: EthernetN is N + 1, PortChannelN 1000 + N, VlanN
 * 2000 + N, ethN (management) 10000 + N. lldpd's and SONiC's own tables have the same numbers. Pure. */

enum sonic_kind { SONIC_PORT, SONIC_LAG, SONIC_VLAN, SONIC_MANAGEMENT, SONIC_N_KINDS };

/* The name need not end with a NUL. 0: it is none of these names. *number: N. */
uint32_t interface_number(const char *name, size_t octets, enum sonic_kind *kind, uint32_t *number);

/* ---- the table ---- */

/* What is counted: columns of SONIC_COUNTERS. Those of IF-MIB come first: a LAG has them, too. */
enum sonic_row {
	ROW_IN_OCTETS, ROW_IN_UCAST, ROW_IN_NON_UCAST, ROW_IN_MCAST, ROW_IN_BCAST, ROW_IN_DISCARDS,
	ROW_IN_ERRORS, ROW_IN_UNKNOWN_PROTOS,
	ROW_OUT_OCTETS, ROW_OUT_UCAST, ROW_OUT_NON_UCAST, ROW_OUT_MCAST, ROW_OUT_BCAST, ROW_OUT_DISCARDS,
	ROW_OUT_ERRORS,
	SONIC_N_IF_ROWS,
	ROW_PAUSE_IN = SONIC_N_IF_ROWS, ROW_PAUSE_OUT,
	ROW_RMON_DROP_EVENTS, ROW_RMON_OCTETS, ROW_RMON_PKTS, ROW_RMON_BCAST, ROW_RMON_MCAST,
	ROW_RMON_CRC_ALIGN, ROW_RMON_UNDERSIZE, ROW_RMON_OVERSIZE, ROW_RMON_FRAGMENTS, ROW_RMON_JABBERS,
	ROW_RMON_COLLISIONS, ROW_RMON_64, ROW_RMON_65_127, ROW_RMON_128_255, ROW_RMON_256_511,
	ROW_RMON_512_1023, ROW_RMON_1024_MAX,
	SONIC_N_ROWS
};

enum { SONIC_VLAN_WORDS = (HAL_VLAN_MAX + 64) / 64, SONIC_NAME_MAX = 16 };

/* A bit for each VLAN that an interface is a member of. */
struct sonic_vlans {
	uint64_t member[SONIC_VLAN_WORDS], untagged[SONIC_VLAN_WORDS];
	uint64_t seen[SONIC_VLAN_WORDS]; /* by the present pass */
};

struct sonic_interface {
	uint32_t if_index;
	uint8_t kind; /* enum sonic_kind */
	char name[SONIC_NAME_MAX + 1];
	uint32_t pass;	 /* the last that named it */
	bool has_entry;	 /* its own entry was read */
	bool missing;	 /* the last pass did not name it, but the table is not complete */
	bool changed;	 /* since it was last reported */
	/* its entry */
	char descr[EASE_NAME_MAX + 1], alias[EASE_NAME_MAX + 1];
	uint64_t speed_bps; /* 0: not known */
	uint32_t mtu_octets;
	uint8_t admin_status, oper_status; /* enum ease_if_status */
	uint32_t lag;	  /* ifIndex of its LAG; 0: none */
	bool lag_active;  /* the LAG sends through it */
	uint32_t lag_pass;
	struct sonic_vlans *vlans; /* NULL: it was never a member */
	uint32_t kernel_index;	   /* 0: not known */
	/* counters */
	uint64_t object;     /* SAI's; 0: not known */
	uint64_t named_object; /* by the names that are being read */
	uint64_t counted_us; /* when they were read; 0: never */
	uint64_t has;	     /* a bit for each row that is known */
	uint64_t values[SONIC_N_ROWS];
	uint32_t before_lag; /* the LAG that has counted `before`; 0: none */
	uint64_t before_has; /* a bit for each row of it that was known */
	uint64_t before[SONIC_N_IF_ROWS];
	/* sampling */
	uint32_t rate;	      /* in force; 0: it is not sampled */
	uint32_t wanted_rate; /* asked for by SET */
	uint64_t wanted_us;   /* until when that is awaited; 0: nothing is */
};

struct sonic_interfaces {
	struct sonic_interface **all; /* sorted by if_index */
	size_t n;
	struct sonic_interface **served; /* those that have an entry; sorted */
	size_t n_served;
	uint32_t pass, management_pass;
	uint64_t refused; /* names whose number another has, or for which there is no room */
};

void interfaces_free(struct sonic_interfaces *interfaces);

/* The interface, or NULL. */
struct sonic_interface *interfaces_find(const struct sonic_interfaces *interfaces, uint32_t if_index);
/* The interface of this name, which is remembered from now on if it was not. NULL: the name is none of SONiC's,
 * another interface has its number, there are HAL_MAX_PORTS, or there is no memory. */
struct sonic_interface *interfaces_get(struct sonic_interfaces *interfaces, const char *name, size_t octets);

/* A pass over the keys begins. */
void interfaces_begin_pass(struct sonic_interfaces *interfaces);
/* A key of the pass, or a notice, names the interface; says that it is a member of a LAG or of a VLAN. */
void interfaces_name(const struct sonic_interfaces *interfaces, struct sonic_interface *interface);
void interfaces_join_lag(
    const struct sonic_interfaces *interfaces, struct sonic_interface *interface, uint32_t lag, bool active);
void interfaces_join_vlan(struct sonic_interface *interface, uint16_t vlan, bool untagged);
/* The pass has come to the end. complete: what it did not name is gone; else it may come yet. */
void interfaces_end_pass(struct sonic_interfaces *interfaces, bool complete);
/* Management ports have passes of their own: they are in another database. */
void interfaces_begin_management_pass(struct sonic_interfaces *interfaces);
void interfaces_end_management_pass(struct sonic_interfaces *interfaces);

/* Lists those that are served. True: they are not the same as before. */
bool interfaces_list(struct sonic_interfaces *interfaces);

bool interface_is_member(const struct sonic_interface *interface, uint16_t vlan);
/* Whether it is a member of any VLAN. */
bool interface_has_vlans(const struct sonic_interface *interface);

#endif
