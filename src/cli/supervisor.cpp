// SPDX-License-Identifier: BSD-2-Clause
#include "cli/supervisor.hpp"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/error.hpp"

namespace quorate {

namespace {

volatile pid_t child = 0;

void forward(int signal)
{
    if (child > 0) kill(child, signal);
}

}  // namespace

void supervise()
{
    // Shared memory of MPICH's UCX aborts or starves those who are left when a peer dies during a
    // transfer; Open MPI's does likewise.
    setenv("UCX_TLS", "tcp,self", 0);
    setenv("OMPI_MCA_pml", "ob1", 0);
    setenv("OMPI_MCA_btl", "tcp,self", 0);
    std::fflush(nullptr);
    const auto parent = getpid();
    child = fork();
    if (child < 0)
        throw Failure(std::string("no supervisor process can be made: ") + std::strerror(errno));
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent) std::_Exit(exit_failed);
        return;
    }
    for (const int signal : {SIGTERM, SIGUSR2, SIGINT}) std::signal(signal, forward);
    std::signal(SIGUSR1, SIG_IGN);  // hydra sends it to all ranks when one has died
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    std::_Exit(WIFEXITED(status) ? WEXITSTATUS(status) : exit_done);
}

}  // namespace quorate
