/* SPDX-License-Identifier: Apache-2.0 */
/* The vendor's library, played by tests/stub/nvml.c. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "os/gpu.h"
#include "unit.h"

static char state_path[64];

static void state_write(const char *text) {
    FILE *file = fopen(state_path, "we");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0 && fclose(file) == 0);
}

static struct gpu_library *library_of(const char *text) {
    struct gpu_library *library = NULL;
    struct error err = ERROR_INIT;
    state_write(text);
    if (gpu_open(NULL, &library, &err) < 0)
        fail_msg("%s", err.text);
    return library;
}

#define PAIR                                                                                       \
    "0 name NVIDIA A100-SXM4-80GB\n0 minor 3\n0 uuid GPU-11\n0 pci 00000000:17:00.0\n"             \
    "0 cpus f0f\n0 total 81920\n0 link 00000000:65:00.0\n0 link 00000000:65:00.0\n"                \
    "1 name NVIDIA A100-SXM4-80GB\n1 minor 1\n1 pci 00000000:65:00.0\n1 link 00000000:17:00.0\n"

TEST(cards_are_described_in_the_words_of_gres_conf) {
    struct gpu_library *library = library_of(PAIR);
    size_t n;
    const struct gpu_card *cards = gpu_cards(library, &n);
    assert_int_equal(n, 2);
    assert_string_equal(cards[0].type, "nvidia_a100-sxm4-80gb");
    assert_string_equal(cards[0].file, "/dev/nvidia3");
    assert_string_equal(cards[0].uuid, "GPU-11");
    assert_string_equal(cards[0].cpus, "0-3,8-11");
    assert_string_equal(cards[0].links, "-1,2");
    assert_string_equal(cards[1].links, "1,-1");
    assert_int_equal(cards[0].memory, 81920);
    assert_null(cards[1].uuid);
    assert_null(cards[1].cpus);
    gpu_close(library);
}

TEST(a_sample_tells_use_memory_processes_and_errors) {
    struct gpu_library *library =
        library_of(PAIR "0 use 37\n0 used 1000\n0 process 42 900\n0 ecc 2\n0 xid 79\n");
    struct gpu_sample sample;
    struct error err = ERROR_INIT;
    assert_int_equal(gpu_sample(library, 0, &sample, &err), 0);
    assert_int_equal(sample.use, 37);
    assert_int_equal(sample.memory_used, 1000);
    assert_int_equal(sample.n_processes, 1);
    assert_int_equal(sample.processes[0].pid, 42);
    assert_int_equal(sample.processes[0].memory, 900);
    assert_int_equal(sample.ecc_errors, 2);
    assert_int_equal(sample.xid, 79);
    assert_int_equal(gpu_sample(library, 0, &sample, &err), 0);
    assert_int_equal(sample.xid, 0);
    assert_int_equal(gpu_sample(library, 1, &sample, &err), 0);
    assert_int_equal(sample.use, UINT32_MAX); /* the card does not tell */
    gpu_close(library);
}

TEST(a_card_off_the_bus_is_an_error_that_names_it) {
    struct gpu_library *library = library_of(PAIR);
    struct gpu_sample sample;
    struct error err = ERROR_INIT;
    state_write(PAIR "0 lost 1\n");
    assert_int_equal(gpu_sample(library, 0, &sample, &err), -ERR_SYSTEM);
    assert_non_null(strstr(err.text, "/dev/nvidia3"));
    assert_non_null(strstr(err.text, "fallen off the bus"));
    gpu_close(library);
}

TEST(without_library_or_driver_the_error_says_what_is_missing) {
    struct gpu_library *library = NULL;
    struct error err = ERROR_INIT;
    assert_int_equal(gpu_open("libno-such-gpu.so.1", &library, &err), -ERR_NOT_FOUND);
    assert_non_null(strstr(err.text, "libno-such-gpu.so.1"));
    state_write("fail init 9\n");
    assert_int_equal(gpu_open(NULL, &library, &err), -ERR_SYSTEM);
    assert_non_null(strstr(err.text, "Driver Not Loaded"));
    assert_null(library);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cards_are_described_in_the_words_of_gres_conf),
        cmocka_unit_test(a_sample_tells_use_memory_processes_and_errors),
        cmocka_unit_test(a_card_off_the_bus_is_an_error_that_names_it),
        cmocka_unit_test(without_library_or_driver_the_error_says_what_is_missing),
    };
    snprintf(state_path, sizeof(state_path), "/tmp/sluice-gpu-%d", (int) getpid());
    setenv("SLUICE_NVML_STATE", state_path, 1);
    setenv("SLUICE_NVML_LIBRARY", STUB_NVML, 1);
    int failures = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(state_path);
    return failures;
}
