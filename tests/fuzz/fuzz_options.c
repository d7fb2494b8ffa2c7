/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Options: the words of a line, for each command. What is refused says why and with which status;
 * what is accepted makes a request that survives the wire.
 */
#include "base/alloc.h"
#include "cli/options.h"
#include "cli/script.h"
#include "fuzz.h"

static bool reads_files(const struct option_uses *uses) {
    for (size_t i = 0; i < uses->options.n; i++) {
        uint16_t id = uses->options.items[i].row->id;
        if (id == OPT_nodefile || id == OPT_nodelist || id == OPT_exclude || id == OPT_bbf ||
            id == OPT_uid || id == OPT_gid)
            return true;
    }
    return false;
}

static void survives_the_wire(const struct job_request *job) {
    cleanup_str struct str text = STR_INIT;
    struct arena arena;
    struct job_request copy;
    struct error err = ERROR_INIT;
    arena_init(&arena, 1u << 24);
    wire_encode(&record_job_request, job, NULL, &text);
    require(wire_decode(&record_job_request,
                        (struct bytes) {(const uint8_t *) text.data, text.length}, &arena, &copy,
                        &err) == 0);
    require(record_equal(&record_job_request, job, &copy));
    arena_done(&arena);
}

static void try_command(enum option_command command, struct script_words *words) {
    struct option_set set = option_set_of(command, "fuzz");
    struct option_uses uses = {0};
    struct options options;
    cleanup_str struct str complaint = STR_INIT;
    options_init(&options, command);
    options.now = 1796040000;
    if (!option_scan(&set, words->words.items, words->words.n, OPTION_STOP, &uses, &complaint)) {
        require(complaint.length > 0);
    } else if (!reads_files(&uses)) {
        if (options_apply(&options, &uses, OPTION_LINE) < 0 || options_finish(&options) < 0) {
            require(options.problem.text.length > 0);
            require(options.problem.status == 1 || options.problem.status == 255);
        } else {
            survives_the_wire(&options.job);
        }
    }
    option_uses_done(&uses);
    options_done(&options);
}

FUZZ_TEXT(text) {
    static const enum option_command commands[] = {OPTION_SBATCH, OPTION_SRUN, OPTION_SALLOC};
    struct script_words words = {0};
    struct script_fault fault;
    if (script_split(text, strlen(text), &words, &fault))
        for (size_t i = 0; i < countof(commands); i++)
            try_command(commands[i], &words);
    else
        require(fault.rest < strlen(text));
    script_words_done(&words);
}
