/*
 * Reads with Net-SNMP's library the messages that our own decoder refuses for their encoding
 * (DECODE_BAD_CODING). The library accepts padded integers, unsigned numbers written as negative
 * ones, and octets left over inside a message. What it has read is encoded again as RFC 3417
 * requires, so that only our decoder makes records.
 *
 * With it the collector reads every SNMPv2c trap and inform of a known community as Net-SNMP does:
 * what the strict decoder accepts, the library reads in the same way; what the decoder refuses, the
 * library reads. These differences remain, each a rule of SNMP that the library does not keep:
 *
 *   head    The message must fill the datagram, and version and community must be strict: before
 *           the community is known, no stranger's octets are given to the library.
 *   Opaque  Left as it is. The library decodes floats and 64-bit numbers in it, and refuses a
 *           message in which they are malformed; no EASE value is Opaque.
 *   values  The message is refused if it has a type that no notification may carry (RFC 3416
 *           section 3: exceptions; RFC 2578: BIT STRING, NsapAddress, UInteger32), or a number
 *           that exceeds its type even after the library has truncated it.
 *
 * tests/collector/input/readings.c compares both readers and knows these three names.
 *
 * The library keeps state for the process, so only one thread may use it.
 */
#ifndef EASE_COLLECTOR_INPUT_NETSNMP_READER_H
#define EASE_COLLECTOR_INPUT_NETSNMP_READER_H

#include "collector/input/v2c.h"

struct snmp_pdu; /* Net-SNMP's */

/* Between open and close the library logs to our log, at level debug. Calls do not nest. */
void netsnmp_reader_open(void);
void netsnmp_reader_close(void);

/* Reads the PDU in body, after a head that v2c_open has read. *m is then the message as the library
 * reads it, with its variable bindings written to w. 0; -EBADMSG if the library refuses it or it is
 * neither trap nor inform; -ENOMEM; -EMSGSIZE if w is too small. */
int netsnmp_reader_read(struct v2c_message *m, const struct rbuf *body, struct wbuf *w);

/* Writes the variable bindings of a PDU one after another, without a head around them. Sets
 * w->failed if there is no room, or one that the library cannot encode. */
void netsnmp_put_varbinds(struct wbuf *w, const struct snmp_pdu *pdu);

#endif
