/* SPDX-License-Identifier: Apache-2.0 */
/* Host lists: what parses folds into a text that parses into the same names, sorted or not. */
#include "base/alloc.h"
#include "fuzz.h"
#include "text/hostlist.h"

#define CHECKED_MAX 20000 /* larger lists only cost time */

static void round_trip(const struct hostlist *list) {
    cleanup_str struct str text = STR_INIT;
    cleanup_hostlist struct hostlist again = HOSTLIST_INIT;
    hostlist_fold(list, &text);
    require(hostlist_parse(&again, str_cstr(&text), NULL) == 0);
    require(again.n == list->n);
    for (size_t i = 0; i < list->n; i++)
        require(str_equal(again.names[i], list->names[i]));
}

FUZZ_TEXT(text) {
    cleanup_hostlist struct hostlist list = HOSTLIST_INIT;
    struct error err = ERROR_INIT;
    if (hostlist_parse(&list, text, &err) < 0) {
        require(list.n == 0);
        require(str_starts(err.text, "Invalid hostlist: "));
        return;
    }
    require(list.n <= HOSTLIST_MAX_HOSTS);
    if (list.n > CHECKED_MAX)
        return;
    round_trip(&list);
    hostlist_sort(&list);
    for (size_t i = 1; i < list.n; i++)
        require(hostname_compare(list.names[i - 1], list.names[i]) <= 0);
    round_trip(&list);
    hostlist_unique(&list);
    for (size_t i = 1; i < list.n; i++)
        require(hostname_compare(list.names[i - 1], list.names[i]) < 0);
}
