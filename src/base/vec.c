/* SPDX-License-Identifier: Apache-2.0 */
/* The growth policy of vectors: by half, at least 8 elements, so that pushes are O(1) each. */
#include "base/vec.h"

size_t vec_grown(size_t capacity, size_t needed) {
    size_t grown = capacity + capacity / 2;
    if (grown < 8)
        grown = 8;
    return grown > needed ? grown : needed;
}
