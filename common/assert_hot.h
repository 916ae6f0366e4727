/*
 * An assert where each field of each datagram passes: everywhere it would cost more than half a percent of the
 * collector's work, so it runs in builds with sanitizers or fuzz targets alone (configure.ac).
 */
#ifndef EASE_COMMON_ASSERT_HOT_H
#define EASE_COMMON_ASSERT_HOT_H

#include <assert.h>

#ifdef EASE_ASSERT_HOT
#define assert_hot(holds) assert(holds)
#else
#define assert_hot(holds) ((void)0)
#endif

#endif
