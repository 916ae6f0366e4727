/* SHA-256 (FIPS 180-4), of what is in memory as a whole. */
#ifndef EASE_COMMON_SHA256_H
#define EASE_COMMON_SHA256_H

#include <stddef.h>
#include <stdint.h>

enum { SHA256_OCTETS = 32 };

void sha256(const void *octets, size_t n, uint8_t digest[static SHA256_OCTETS]);

#endif
