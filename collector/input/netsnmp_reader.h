/*
 * Net-SNMP's library as a reader of what our own decoder refuses for the way it is encoded
 * (DECODE_BAD_CODING). It takes padded integers, unsigned numbers written as negative ones, octets
 * left over inside a message; what it has read is written again as RFC 3417 has it, so that only
 * one decoder ever gives records.
 *
 * With it the collector reads every v2c trap and inform of a known community as Net-SNMP does:
 * what the strict decoder takes, the library reads the same; what it refuses, the library reads.
 * The differences that remain, each a rule of SNMP that the library does not keep:
 *
 *   head    The message must fill the datagram, and version and community be strict: nobody
 *           vouches for octets before the community is read, and so the library never sees them.
 *   Opaque  Kept closed. The library opens floats and 64-bit numbers in it, and refuses a message
 *           where they are spoilt; no EASE value is Opaque.
 *   values  A type that no notification may carry (RFC 3416 section 3: exceptions; RFC 2578: BIT
 *           STRING, NsapAddress, UInteger32), and a number beyond its type that is still beyond it
 *           after the library cut it: the message is refused.
 *
 * tests/collector/input/readings.c holds both readings against each other and knows these three names.
 *
 * One thread: the library keeps state for the process.
 */
#ifndef EASE_COLLECTOR_INPUT_NETSNMP_READER_H
#define EASE_COLLECTOR_INPUT_NETSNMP_READER_H

#include "collector/input/v2c.h"

struct snmp_pdu; /* Net-SNMP's */

/* From open to close the library's lines go to our log, as debugging. They do not nest. */
void netsnmp_reader_open(void);
void netsnmp_reader_close(void);

/* Reads the PDU of a message, whose head v2c_open has read: body is behind it. *m then is the
 * message as the library has it, its varbinds written to w. 0; -EBADMSG if the library refuses it
 * or it is neither trap nor inform; -ENOMEM; -EMSGSIZE if w is too small. */
int netsnmp_reader_read(struct v2c_message *m, const struct rbuf *body, struct wbuf *w);

/* The variable bindings of a PDU one after the other, without a head around them. w->failed if
 * there is no room, or one that the library cannot write. */
void netsnmp_put_varbinds(struct wbuf *w, const struct snmp_pdu *pdu);

#endif
