// SPDX-License-Identifier: BSD-2-Clause
// Loaded before the program (LD_PRELOAD), it makes of it one that tests run thousands of times: the
// process stays as it is before main(), and each run is a fork of it, which loads nothing.
//
// Standard input is a socket of packets. A request is one packet: the folder, the number of
// variables, the variables, the words with the program's name, each ended by a zero. With it come
// the descriptors of the run's output and messages. The answer is two packets of an int: the
// process, and once it has ended, its status as waitpid gives it.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

using Main = int (*)(int, char**, char**);
Main program = nullptr;

struct Request {
    std::string folder;
    std::vector<std::string> variables, words;
    int output = -1, messages = -1;
};

// @return whether there was one: the other side may have ended
bool receive(Request& request)
{
    std::vector<char> packet(1 << 20);
    iovec data{packet.data(), packet.size()};
    alignas(cmsghdr) char control[CMSG_SPACE(2 * sizeof(int))];
    msghdr message{};
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    const auto bytes = recvmsg(STDIN_FILENO, &message, MSG_CMSG_CLOEXEC);
    if (bytes <= 0) return false;
    int descriptors[2];
    std::memcpy(descriptors, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof descriptors);
    request.output = descriptors[0];
    request.messages = descriptors[1];
    std::vector<std::string> texts;
    for (const char *at = packet.data(), *end = at + bytes; at < end; at += texts.back().size() + 1)
        texts.emplace_back(at);
    const auto variables = texts.begin() + 2;
    const auto words = variables + std::stol(texts.at(1));
    request.folder = texts[0];
    request.variables.assign(variables, words);
    request.words.assign(words, texts.end());
    return true;
}

// Carries out a request, in a process of its own, as a shell would have started it.
[[noreturn]] void carry_out(Request& request)
{
    setsid();
    dup2(open("/dev/null", O_RDONLY), STDIN_FILENO);
    dup2(request.output, STDOUT_FILENO);
    dup2(request.messages, STDERR_FILENO);
    if (chdir(request.folder.c_str()) != 0) std::abort();
    clearenv();
    for (auto& variable : request.variables) putenv(variable.data());
    std::vector<char*> words;
    for (auto& word : request.words) words.push_back(word.data());
    words.push_back(nullptr);
    std::exit(program(static_cast<int>(request.words.size()), words.data(), environ));
}

int serve(int, char**, char**)
{
    for (Request request; receive(request); request = {}) {
        const pid_t run = fork();
        if (run == 0) carry_out(request);
        close(request.output);
        close(request.messages);
        int status = 0;
        if (send(STDIN_FILENO, &run, sizeof run, 0) < 0) return EXIT_FAILURE;
        waitpid(run, &status, 0);
        if (send(STDIN_FILENO, &status, sizeof status, 0) < 0) return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}

}  // namespace

// What starts any program: here it starts serve() in place of main().
extern "C" int __libc_start_main(Main main, int argc, char** argv, void (*init)(), void (*fini)(),
                                 void (*end)(), void* stack)
{
    program = main;
    const auto start =
        reinterpret_cast<decltype(&__libc_start_main)>(dlsym(RTLD_NEXT, "__libc_start_main"));
    return start(serve, argc, argv, init, fini, end, stack);
}
