/* SPDX-License-Identifier: Apache-2.0 */
/* Batch scripts: any bytes are checked and scanned without harm; words and lines agree. */
#include "base/alloc.h"
#include "cli/script.h"
#include "fuzz.h"

static void lines_agree(const struct script_words *words) {
    size_t next = 0;
    unsigned number = 0;
    for (size_t i = 0; i < words->lines.n; i++) {
        const struct script_line *line = &words->lines.items[i];
        require(line->n > 0);
        require(line->first == next);
        require(line->number > number);
        next += line->n;
        number = line->number;
    }
    require(next <= words->words.n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct bytes script = {data, size};
    struct script_words words = {0};
    struct error err = ERROR_INIT;
    bool good = script_check(script, &err) == 0;
    require(good || err.text[0]);
    if (script_scan(script, "fuzz", &words, &err) == 0)
        lines_agree(&words);
    else
        require(err.text[0]);
    script_words_done(&words);
    return 0;
}
