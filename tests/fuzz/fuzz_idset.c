/* SPDX-License-Identifier: Apache-2.0 */
/* Array specs: what parses prints as a spec of the same ids; removal and addition undo each other.
 */
#include "base/alloc.h"
#include "fuzz.h"
#include "text/idset.h"

#define ID_MAX 4000000
#define CHECKED_MAX 20000

static void sets_equal(const struct idset *a, const struct idset *b) {
    uint32_t id_a, id_b;
    require(idset_count(a) == idset_count(b));
    for (uint32_t from = 0; idset_next(a, from, &id_a); from = id_a + 1) {
        require(idset_next(b, from, &id_b) && id_a == id_b);
        require(idset_contains(a, id_a));
    }
}

FUZZ_TEXT(text) {
    cleanup_idset struct idset set = IDSET_INIT, again = IDSET_INIT;
    cleanup_str struct str printed = STR_INIT, cut = STR_INIT;
    struct error err = ERROR_INIT;
    uint32_t limit;
    if (idset_parse(&set, text, ID_MAX, &limit, &err) < 0) {
        require(set.n == 0 && err.text[0]);
        return;
    }
    require(set.n > 0 && idset_max(&set) <= ID_MAX);
    idset_print(&set, &cut, 64);
    require(cut.length > 0 && cut.length < 64);
    if (idset_count(&set) > CHECKED_MAX)
        return;
    idset_print(&set, &printed, 0);
    require(idset_parse(&again, str_cstr(&printed), ID_MAX, NULL, NULL) == 0);
    sets_equal(&set, &again);
    uint32_t middle;
    require(idset_next(&set, idset_min(&set) + (idset_max(&set) - idset_min(&set)) / 2, &middle));
    require(idset_remove(&again, middle) && !idset_contains(&again, middle));
    require(idset_count(&again) + 1 == idset_count(&set));
    require(idset_add(&again, middle) && !idset_add(&again, middle));
    sets_equal(&set, &again);
}
