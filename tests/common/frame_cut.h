/*
 * A property of truncated frames: whatever is read from the first octets of a frame is also read
 * from the whole frame, in every layer. For the unit test and the fuzzer.
 */
#ifndef EASE_TESTS_FRAME_CUT_H
#define EASE_TESTS_FRAME_CUT_H

#include "common/frame.h"

/* NULL, or the name of the first key that the frame of len octets lacks, or has otherwise, and its
 * first cut octets give. Also where a layer does not begin further in than the one around it. */
const char *frame_cut_invents(const uint8_t *octets, size_t cut, size_t len);

#endif
