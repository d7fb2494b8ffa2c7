/* SPDX-License-Identifier: Apache-2.0 */
/* GRES requests: what parses prints as a request that parses the same. */
#include "base/alloc.h"
#include "fuzz.h"
#include "text/tres.h"

static void round_trip(const struct gres_list *list, const char *prefix, char separator) {
    cleanup_gres_list struct gres_list again = GRES_LIST_INIT;
    cleanup_str struct str text = STR_INIT;
    gres_print(list, prefix, separator, &text);
    require(gres_parse(str_cstr(&text), &again, NULL) == 0);
    require(again.n == list->n);
    for (size_t i = 0; i < list->n; i++) {
        require(str_equal(again.items[i].name, list->items[i].name));
        require(str_equal(again.items[i].type, list->items[i].type));
        require(again.items[i].count == list->items[i].count);
    }
}

FUZZ_TEXT(text) {
    cleanup_gres_list struct gres_list gres = GRES_LIST_INIT, gpus = GRES_LIST_INIT;
    if (gres_parse(text, &gres, NULL) == 0) {
        round_trip(&gres, "gres/", '=');
        round_trip(&gres, "gres:", ':');
    }
    if (gpus_parse(text, &gpus, NULL) == 0)
        round_trip(&gpus, "gres/", '=');
}
