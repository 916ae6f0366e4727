/*
 * Memory of tables, touched at once: the first page faults of a busy minute would lose datagrams.
 * Large ones are in huge pages where the system has them: a sample's place is anywhere in a table,
 * and with small pages finding the page takes as long as reading it.
 */
#ifndef EASE_COLLECTOR_WINDOW_PREFAULT_H
#define EASE_COLLECTOR_WINDOW_PREFAULT_H

#include <stddef.h>

/* n times octets, each octet `fill`; NULL: no memory. Aligned to a cache line at least; for
 * free(). */
void *prefault_alloc(size_t n, size_t octets, int fill);

/* Octets that this takes. */
size_t prefault_octets(size_t n, size_t octets);

#endif
