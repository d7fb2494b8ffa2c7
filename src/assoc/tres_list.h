/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists of TRES as limits keep them: "cpu=10,mem=4096,gres/gpu:a100=2". Names are in lower case and
 * each is there once, the standard ones in the order of their numbers, then the others by name.
 * Memory is in MiB, of which limits on minutes know nothing: theirs are plain numbers. An empty
 * list is NULL.
 */
#ifndef SLUICE_ASSOC_TRES_LIST_H
#define SLUICE_ASSOC_TRES_LIST_H

#include <stdbool.h>

#include "base/error.h"
#include "base/str.h"

/* "cpu=4,mem=2G": what is named changes, "=-1" takes it out, the other items stay; "" clears the
 * list. Memory has units if the list `has_memory`. A refusal begins with `key`. */
must_check int tres_list_change(char **list, const char *value, bool has_memory, const char *key,
                                struct error *err);
/* Memory with a unit: "cpu=10,mem=4.50G". NULL prints nothing. */
void tres_list_print(const char *list, struct str *out);
/* The same for files: no halves of units, which cannot be read again. */
void tres_list_write(const char *list, struct str *out);

#endif
