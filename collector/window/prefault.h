/*
 * Memory for tables that is written once when it is allocated (pre-faulted), because page faults in
 * the first busy minute would lose datagrams. Large tables use huge pages where the system has
 * them: a sample's entry may be anywhere in a table, and with small pages finding the page takes as
 * long as reading it.
 */
#ifndef EASE_COLLECTOR_WINDOW_PREFAULT_H
#define EASE_COLLECTOR_WINDOW_PREFAULT_H

#include <stddef.h>

/* Allocates n times so many octets, each set to `fill` and the whole aligned to a cache line at
 * least. Returns NULL without memory. To be freed by free(). */
void *prefault_alloc(size_t n, size_t octets, int fill);

/* Returns the octets that such an allocation takes. */
size_t prefault_octets(size_t n, size_t octets);

#endif
