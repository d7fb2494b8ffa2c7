/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Languages of advice and explanations. What programs read (listings, JSON, the lines that scripts
 * know) is English whatever the language.
 *
 * A phrase is a printf format in every language. Where a language wants its arguments in another
 * order it says so as in %2$s; then all conversions of that text have numbers.
 */
#ifndef SLUICE_TEXT_LANGUAGE_H
#define SLUICE_TEXT_LANGUAGE_H

#include <stdbool.h>

enum language { LANGUAGE_ENGLISH, LANGUAGE_KOREAN, LANGUAGES };

/* The language of a locale's name ("ko_KR.UTF-8", "ko"); English for all that we have not, for one
 * that is not written in UTF-8, and for NULL. */
enum language language_of(const char *locale);
/* Do two texts take the same arguments? */
bool phrase_takes_the_same(const char *a, const char *b);

#endif
