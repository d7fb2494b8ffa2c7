/* SPDX-License-Identifier: Apache-2.0 */
#include "text/language.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"

#define ARGUMENTS_MAX 8
#define CONVERSION_MAX 8 /* bytes of one without its number: "%llu" */

enum language language_of(const char *locale) {
    if (locale == NULL || !str_starts(locale, "ko") || strchr("_.@", locale[2]) == NULL)
        return LANGUAGE_ENGLISH;
    const char *charset = strchr(locale, '.');
    bool is_utf8 = charset == NULL || str_starts_nocase(charset, ".utf-8") ||
                   str_starts_nocase(charset, ".utf8");
    return is_utf8 ? LANGUAGE_KOREAN : LANGUAGE_ENGLISH;
}

/* The conversions of a text by the argument that each takes: "%zu", "%s". False when it has more
 * than there is room for, or one argument twice as different things. */
static bool read_conversions(const char *text, char found[ARGUMENTS_MAX][CONVERSION_MAX]) {
    size_t next = 0;
    for (const char *at = text; (at = strchr(at, '%')) != NULL;) {
        if (at[1] == '%') {
            at += 2;
            continue;
        }
        char *end;
        unsigned long number = strtoul(at + 1, &end, 10);
        bool is_numbered = *end == '$' && end > at + 1;
        const char *rest = is_numbered ? end + 1 : at + 1;
        size_t length = strspn(rest, "0123456789.lzh-");
        size_t index = is_numbered ? number - 1 : next++;
        if (index >= ARGUMENTS_MAX || length + 2 > CONVERSION_MAX || rest[length] == '\0')
            return false;
        char conversion[CONVERSION_MAX] = {0};
        memcpy(conversion, rest, length + 1);
        if (found[index][0] != '\0' && !str_equal(found[index], conversion))
            return false;
        memcpy(found[index], conversion, CONVERSION_MAX);
        at = rest + length + 1;
    }
    return true;
}

bool phrase_takes_the_same(const char *a, const char *b) {
    char of_a[ARGUMENTS_MAX][CONVERSION_MAX] = {0}, of_b[ARGUMENTS_MAX][CONVERSION_MAX] = {0};
    return read_conversions(a, of_a) && read_conversions(b, of_b) &&
           memcmp(of_a, of_b, sizeof(of_a)) == 0;
}
