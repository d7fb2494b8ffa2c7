/* SPDX-License-Identifier: Apache-2.0 */
/* Recorded workloads, which lie beside the checkout or where SLUICE_TRACES says. */
#ifndef SLUICE_UNIT_SIM_ARCHIVE_H
#define SLUICE_UNIT_SIM_ARCHIVE_H

#include <stdlib.h>

#include "base/alloc.h"
#include "sim/trace.h"
#include "unit.h"

/* Where a file of the archive would be; malloc. */
static inline char *archive_path(const char *name) {
    const char *folder = getenv("SLUICE_TRACES");
    return xasprintf("%s/%s", folder ? folder : SOURCE_DIR "/../shared/traces", name);
}

/* False after a line that says what is missing. */
static inline bool archive_read(struct trace *trace, const char *name) {
    struct error err = ERROR_INIT;
    cleanup_free char *path = archive_path(name);
    trace_init(trace);
    if (trace_read(trace, path, TRACE_GUESS, 0, &err) == 0)
        return true;
    print_message("# skipped: %s; the Parallel Workloads Archive has it "
                  "(https://www.cs.huji.ac.il/labs/parallel/workload/), SLUICE_TRACES names the "
                  "folder\n",
                  err.text);
    trace_done(trace);
    return false;
}

#endif
