/*
 * Frames that carry this machine's own notifications and sFlow: a sample of one would cause another frame. Pure.
 */
#ifndef EASE_AGENT_LINUX_OWN_FRAMES_H
#define EASE_AGENT_LINUX_OWN_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether the frame, of which the first octets are kept, is UDP to one of the n ports. */
bool own_frames_has(const uint16_t *ports, size_t n, const uint8_t *octets, size_t kept_octets);

#endif
