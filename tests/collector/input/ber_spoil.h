/*
 * Damages BER on purpose, for tests and fuzzing: takes a message apart into its values and writes
 * it again with a few values in a form that a sender might choose or get wrong: long and padded
 * lengths, padded, negative or too long numbers, other types, values doubled or left out, octets
 * left over inside. The lengths around them are then corrected.
 */
#ifndef EASE_TESTS_BER_SPOIL_H
#define EASE_TESTS_BER_SPOIL_H

#include <stddef.h>
#include <stdint.h>

/* One in how_rarely values is spoilt, chosen by *random, which goes on. The octets written, at most
 * room; 0 if there is no room or nothing in it to take apart. */
size_t ber_spoil(const uint8_t *octets, size_t n, uint8_t *out, size_t room, unsigned how_rarely,
    uint64_t *random);

#endif
