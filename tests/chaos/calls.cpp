// SPDX-License-Identifier: BSD-2-Clause
// Loaded before the program (LD_PRELOAD), it harms one of the system calls by which the program
// opens, reads and writes files of a folder: that call fails, or the process is killed before or
// after it.
//
//     CALLS_FOLDER   the folder; calls on other files are left alone CALLS_COUNTER  a file of 8
//     bytes, in which all processes count these calls CALLS_AT       which of them is harmed, from
//     1; 0: none CALLS_HARM     "before" or "after", when the process is killed, or the error
//     number of what fails CALLS_LASTING  whether all calls after it fail as well CALLS_NO_LOCKS
//     whether the file system has no locks
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace {

const char* variable(const char* name)
{
    const char* value = getenv(name);
    return value ? value : "";
}

/// The real function of a name.
template <class F>
F* real(const char* name)
{
    return reinterpret_cast<F*>(dlsym(RTLD_NEXT, name));
}

std::atomic<long>* counter()
{
    static const auto shared = [] {
        const int file =
            real<int(const char*, int, ...)>("open")(variable("CALLS_COUNTER"), O_RDWR | O_CLOEXEC);
        void* place = mmap(nullptr, sizeof(long), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        if (place == MAP_FAILED) {
            std::perror("CALLS_COUNTER");
            std::abort();
        }
        return static_cast<std::atomic<long>*>(place);
    }();
    return shared;
}

bool is_ours(const char* path)
{
    static const std::string_view folder = variable("CALLS_FOLDER");
    return !folder.empty() && std::string_view(path).starts_with(folder);
}

bool is_ours(int file)
{
    char link[64], path[PATH_MAX];
    std::snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    const auto length = readlink(link, path, sizeof path - 1);
    if (length < 0) return false;
    path[length] = 0;
    return is_ours(path);
}

/// One call: what happens to it is decided as it begins, and the process may be killed as it ends.
class Call {
public:
    explicit Call(bool ours)
    {
        if (!ours) return;
        const std::string_view harm = variable("CALLS_HARM");
        const long at = std::atol(variable("CALLS_AT")), number = ++*counter();
        if (at == 0 || number < at || (number > at && !*variable("CALLS_LASTING"))) return;
        if (harm == "before") kill(getpid(), SIGKILL);
        if (harm == "after")
            kill_ = true;
        else
            error_ = std::atoi(variable("CALLS_HARM"));
    }
    ~Call()
    {
        if (kill_) kill(getpid(), SIGKILL);
    }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

    template <class F>
    auto result(const F& f, decltype(f()) failed) const
    {
        if (error_ == 0) return f();
        errno = error_;
        return failed;
    }

private:
    bool kill_ = false;
    int error_ = 0;
};

mode_t mode_of(int flags, va_list more)
{
    return (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(more, mode_t) : 0;
}

}  // namespace

// NOLINTBEGIN(cert-dcl50-cpp, bugprone-macro-parentheses): as C declares them

#define QUORATE_OPEN(name)                                                     \
    extern "C" int name(const char* path, int flags, ...)                      \
    {                                                                          \
        va_list more;                                                          \
        va_start(more, flags);                                                 \
        const mode_t mode = mode_of(flags, more);                              \
        va_end(more);                                                          \
        const auto& open = [&] {                                               \
            return real<int(const char*, int, ...)>(#name)(path, flags, mode); \
        };                                                                     \
        return Call(is_ours(path)).result(open, -1);                           \
    }
QUORATE_OPEN(open)
QUORATE_OPEN(open64)

// A lock is none of the calls that are counted.
#define QUORATE_LOCK(name)                                                            \
    extern "C" int name(int file, int command, ...)                                   \
    {                                                                                 \
        va_list more;                                                                 \
        va_start(more, command);                                                      \
        void* argument = va_arg(more, void*);                                         \
        va_end(more);                                                                 \
        if (command == F_OFD_SETLK && *variable("CALLS_NO_LOCKS") && is_ours(file)) { \
            errno = ENOLCK;                                                           \
            return -1;                                                                \
        }                                                                             \
        return real<int(int, int, ...)>(#name)(file, command, argument);              \
    }
QUORATE_LOCK(fcntl)
QUORATE_LOCK(fcntl64)

// A call that is told its file by a descriptor or a path, which is the parameter `of`.
#define QUORATE_CALL(type, failed, name, of, parameters, arguments)              \
    extern "C" type name parameters                                              \
    {                                                                            \
        const auto& it = [&] { return real<type parameters>(#name) arguments; }; \
        return Call(is_ours(of)).result(it, failed);                             \
    }
QUORATE_CALL(FILE*, nullptr, fopen, path, (const char* path, const char* mode), (path, mode))
QUORATE_CALL(FILE*, nullptr, fopen64, path, (const char* path, const char* mode), (path, mode))
QUORATE_CALL(ssize_t, -1, read, file, (int file, void* to, size_t size), (file, to, size))
QUORATE_CALL(ssize_t, -1, pread, file, (int file, void* to, size_t size, off_t at),
             (file, to, size, at))
QUORATE_CALL(ssize_t, -1, pread64, file, (int file, void* to, size_t size, off64_t at),
             (file, to, size, at))
QUORATE_CALL(ssize_t, -1, write, file, (int file, const void* from, size_t size),
             (file, from, size))
QUORATE_CALL(ssize_t, -1, writev, file, (int file, const iovec* from, int count),
             (file, from, count))
QUORATE_CALL(ssize_t, -1, pwrite, file, (int file, const void* from, size_t size, off_t at),
             (file, from, size, at))
QUORATE_CALL(ssize_t, -1, pwrite64, file, (int file, const void* from, size_t size, off64_t at),
             (file, from, size, at))
QUORATE_CALL(int, -1, ftruncate, file, (int file, off_t size), (file, size))
QUORATE_CALL(int, -1, ftruncate64, file, (int file, off64_t size), (file, size))
QUORATE_CALL(int, -1, fsync, file, (int file), (file))
QUORATE_CALL(int, -1, fdatasync, file, (int file), (file))
QUORATE_CALL(int, -1, rename, to, (const char* from, const char* to), (from, to))
QUORATE_CALL(int, -1, unlink, path, (const char* path), (path))
QUORATE_CALL(int, -1, remove, path, (const char* path), (path))

// NOLINTEND(cert-dcl50-cpp, bugprone-macro-parentheses)
