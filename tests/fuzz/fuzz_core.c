/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes as a sequence of requests, messages of nodes and faults into a real core (see
 * tests/unit/core/chaos.h). A failed check aborts, as an assertion in the core does. */
#include "chaos.h"
#include "fuzz.h"

#define STEPS_MAX 60

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static bool set;
    if (!set)
        setenv("CMOCKA_TEST_ABORT", "1", 1); /* cmocka's asserts have no test to return to */
    set = true;
    struct chooser chooser = {.at = data, .end = data + size};
    chaos_play(&chooser, STEPS_MAX);
    return 0;
}
