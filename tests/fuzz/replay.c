/* SPDX-License-Identifier: Apache-2.0 */
/* Feeds every file of the folders and files given to the fuzz target that it is linked with. */
#include <dirent.h>
#include <sys/stat.h>

#include "fuzz.h"

static unsigned n_replayed;

static void file_replay(const char *path) {
    FILE *file = fopen(path, "rb");
    require(file);
    uint8_t *data = NULL;
    size_t size = 0, n;
    do {
        data = realloc(data, size + 65536);
        require(data);
        n = fread(data + size, 1, 65536, file);
        size += n;
    } while (n > 0);
    fclose(file);
    LLVMFuzzerTestOneInput(data, size);
    free(data);
    n_replayed++;
}

static void folder_replay(const char *path) {
    DIR *folder = opendir(path);
    require(folder);
    for (struct dirent *entry; (entry = readdir(folder));) {
        char name[4096];
        if (entry->d_name[0] == '.')
            continue;
        int length = snprintf(name, sizeof(name), "%s/%s", path, entry->d_name);
        require(length > 0 && (size_t) length < sizeof(name));
        file_replay(name);
    }
    closedir(folder);
}

int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        struct stat status;
        require(stat(argv[i], &status) == 0);
        if (S_ISDIR(status.st_mode))
            folder_replay(argv[i]);
        else
            file_replay(argv[i]);
    }
    printf("%u inputs replayed\n", n_replayed);
    return n_replayed ? 0 : 1;
}
