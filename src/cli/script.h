/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Batch scripts as text: may it be submitted, and which option words stand in its `#SBATCH` lines.
 * Pure functions; the caller has read the file.
 */
#ifndef SLUICE_CLI_SCRIPT_H
#define SLUICE_CLI_SCRIPT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"
#include "base/vec.h"

/* May this text run at all? 0, or an error whose text is one or more lines. */
must_check int script_check(struct bytes script, struct error *err);

/* One directive line: its words, in order. */
struct script_line {
    unsigned number;    /* 1-based line of the script */
    size_t first, n;    /* words.items[first … first + n - 1] */
    unsigned component; /* of a heterogeneous job; 0 is the first */
};
struct script_words {
    vec(char *) words; /* owned */
    vec(struct script_line) lines;
    unsigned n_components; /* one more than separators (#SBATCH hetjob) */
    bool packjob;          /* one of them in its old spelling */
    bool obsolete;         /* a #SLURM line was found */
};
void script_words_done(struct script_words *words);

/* Collects the words of all directives before the first command. `name` is for messages ("file:
 * line 2: Unmatched `"` in [ "open]"). */
must_check int script_scan(struct bytes script, const char *name, struct script_words *words,
                           struct error *err);

/* Splits one directive's text: blanks separate, quotes of either kind group, a backslash takes the
 * next character as it is (but no blank outside quotes), an unquoted # ends the line. False on a
 * quote that is not closed. */
struct script_fault {
    char quote;
    size_t rest; /* offset of the text after the last whole word */
};
bool script_split(const char *text, size_t length, struct script_words *words,
                  struct script_fault *ret_fault);

/* The script that --wrap stands for. */
void script_wrap(const char *command, struct str *out);

#endif
