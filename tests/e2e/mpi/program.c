/* SPDX-License-Identifier: Apache-2.0 */
/* program MODE: an MPI program for the tests. Every rank says who it is (`hello`), the sum of all
 * ranks and what rank 0 heard back from each are checked; `abort` ends all from rank 1, `big` moves
 * a megabyte. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BIG (1 << 20)

static void fail(const char *what) {
    fprintf(stderr, "%s is wrong\n", what);
    MPI_Abort(MPI_COMM_WORLD, 9);
}

static void ping_pong(int rank, int size, int bytes) {
    char *buffer = calloc(1, (size_t) bytes);
    for (int other = 1; other < size; other++) {
        if (rank == 0) {
            memset(buffer, other, (size_t) bytes);
            MPI_Send(buffer, bytes, MPI_CHAR, other, 1, MPI_COMM_WORLD);
            MPI_Recv(buffer, bytes, MPI_CHAR, other, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            if (buffer[bytes - 1] != (char) (other + 1))
                fail("an answer");
        } else if (rank == other) {
            MPI_Recv(buffer, bytes, MPI_CHAR, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            memset(buffer, buffer[0] + 1, (size_t) bytes);
            MPI_Send(buffer, bytes, MPI_CHAR, 0, 2, MPI_COMM_WORLD);
        }
    }
    free(buffer);
}

int main(int argc, char **argv) {
    const char *mode = argc > 1 ? argv[1] : "hello", *node = getenv("SLURMD_NODENAME");
    int rank, size, sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (strcmp(mode, "abort") == 0) {
        if (rank == 1)
            MPI_Abort(MPI_COMM_WORLD, 3);
        sleep(1000);
    }
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (sum != size * (size - 1) / 2)
        fail("the sum");
    ping_pong(rank, size, strcmp(mode, "big") == 0 ? BIG : 1);
    printf("rank %d of %d on %s\n", rank, size, node ? node : "?");
    MPI_Finalize();
    return 0;
}
