/* SPDX-License-Identifier: Apache-2.0 */
/* Inside the option parsers (options_value.c, options_place.c): what they share. */
#ifndef SLUICE_CLI_OPTIONS_PARSE_H
#define SLUICE_CLI_OPTIONS_PARSE_H

#include "cli/options.h"

/* The member that a row writes to. */
char **option_text(struct options *options, const struct option_row *row);
/* Decimal digits only; a number too large to count is as good as the largest. */
bool option_count(const char *value, uint32_t *ret);
/* "Invalid numeric value …", exit status 1. */
int option_bad_number(struct options *options, const struct option_row *row, const char *value);
/* True if every comma-separated word of value is one of words; one of these that ends in ':' takes
 * a value. */
bool option_words_known(const char *value, const char *const *words, size_t n_words);

#endif
