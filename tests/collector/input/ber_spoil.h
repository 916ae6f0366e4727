/*
 * BER spoilt on purpose, for tests and fuzzing: a message is taken apart into its values and put
 * together again with a few of them written in another way that somebody might choose or get
 * wrong: long and padded lengths, padded or negative or too long numbers, other types, values
 * doubled or left out, octets left over inside; and all lengths around them right again.
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
