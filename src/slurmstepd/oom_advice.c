/* SPDX-License-Identifier: Apache-2.0 */
#include "base/alloc.h"
#include "slurmstepd/oom.h"

#define MAPPED_TIMES 8 /* more address space than so many limits says nothing about memory */

uint64_t oom_advice_mib(uint64_t limit_mib, uint64_t mapped_mib, bool *ret_holds_all) {
    uint64_t need = limit_mib * 2, step = 1;

    *ret_holds_all = mapped_mib >= limit_mib && mapped_mib <= limit_mib * MAPPED_TIMES;
    if (*ret_holds_all)
        need = max_of(limit_mib + limit_mib / 2, mapped_mib);
    while (step * 16 <= need) /* to three binary digits, as people write it */
        step *= 2;
    return (need + step - 1) / step * step;
}
