/* SPDX-License-Identifier: Apache-2.0 */
/* Feature expressions: never a crash; a node that has every feature matches all of them. */
#include "base/alloc.h"
#include "base/str.h"
#include "fuzz.h"
#include "text/constraint.h"

static void name_check(const char *name, void *context) {
    require(*name && !strpbrk(name, "&|,()[]* "));
    ++*(size_t *) context;
}

static bool has_all(const char *name, void *context) {
    return true;
}

FUZZ_TEXT(text) {
    struct constraint *constraint = NULL;
    struct error err = ERROR_INIT;
    if (constraint_parse(text, &constraint, &err) < 0) {
        require(!constraint && err.text[0]);
        return;
    }
    size_t n_names = 0;
    constraint_names(constraint, name_check, &n_names);
    require((n_names > 0) == (constraint != NULL));
    require(constraint_matches(constraint, has_all, NULL));
    constraint_free(constraint);
}
