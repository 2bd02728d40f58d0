// SPDX-License-Identifier: BSD-2-Clause
// The bare loop in shared memory: forked workers, one mapping with the point and a contribution of
// each worker, a futex each way. No messages, no MPI. With --replicas R, workers i R ... i R + R -
// 1 compute the same, and a round ends with --collect K answers, or one of each group (agc).
//   shared_loop FILE --workers N [--replicas R --collect K] --rounds N --step X
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <climits>
#include <csignal>

#include "rival.hpp"

namespace {

using Word = std::atomic<std::uint32_t>;

void wait(Word& word, std::uint32_t seen)
{
    syscall(SYS_futex, &word, FUTEX_WAIT, seen, nullptr, nullptr, 0);
}
void wake(Word& word, int processes)
{
    syscall(SYS_futex, &word, FUTEX_WAKE, processes, nullptr, nullptr, 0);
}

// A word of each has a cache line for itself.
struct alignas(64) Line {
    Word word;
};

struct Worker {
    rival::Rows rows;
    std::vector<rival::Index> touched;
};

struct Shared {
    Line* round;     // which one goes on, from 1; what workers sleep on
    Line* answers;   // how many have come in all; what the coordinator sleeps on
    Line* answered;  // of each worker: the round of its last answer
    double* point;
    std::vector<double*> contribution;  // of each worker, at the columns that it touches

    Shared(const std::vector<Worker>& workers, std::size_t columns)
    {
        std::size_t doubles = columns;
        for (const auto& worker : workers) doubles += worker.touched.size();
        const auto lines = 2 + workers.size();
        void* memory = mmap(nullptr, lines * sizeof(Line) + doubles * sizeof(double),
                            PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) rival::refuse("no memory");
        round = static_cast<Line*>(memory);
        answers = round + 1;
        answered = round + 2;
        point = reinterpret_cast<double*>(round + lines);
        auto* next = point + columns;
        for (const auto& worker : workers) {
            contribution.push_back(next);
            next += worker.touched.size();
        }
    }
};

void work(const Worker& worker, std::size_t self, const Shared& shared)
{
    constexpr std::size_t chunk = 1536;  // rows; about 0.2 ms
    std::vector<double> point(worker.touched.size());
    double* const sum = shared.contribution[self];
    std::uint32_t mine = 0;
    for (;;) {
        wait(shared.round->word, mine);
        mine = shared.round->word;
        for (std::size_t j = 0; j < point.size(); ++j) point[j] = shared.point[worker.touched[j]];
        std::fill_n(sum, point.size(), 0.0);
        std::size_t row = 0;
        for (; row < worker.rows.size() && shared.round->word == mine; row += chunk)
            worker.rows.add_gradient(row, std::min(row + chunk, worker.rows.size()), point.data(),
                                     sum);
        // Only then may the point have changed meanwhile, and nobody wants the answer any more.
        if (shared.round->word != mine) continue;
        shared.answered[self].word = mine;
        ++shared.answers->word;
        wake(shared.answers->word, 1);
    }
}

}  // namespace

int main(int argc, char** argv)
{
    const rival::Problem problem(argc, argv);
    const auto option = [&](const char* name, int otherwise) {
        return static_cast<int>(rival::number(argc, argv, name, otherwise));
    };
    const int n = option("--workers", 30), replicas = option("--replicas", 1),
              collect = option("--collect", n), groups = n / replicas;
    if (n < 1 || n % replicas != 0) rival::refuse("--workers is no multiple of --replicas");
    std::vector<Worker> workers;
    for (int i = 0; i < n; ++i) {
        workers.push_back({{problem.data, n, i / replicas * replicas, replicas}, {}});
        workers.back().touched = workers.back().rows.keep_touched(problem.columns());
    }
    const Shared shared(workers, problem.columns());
    std::vector<pid_t> children;
    for (std::size_t i = 0; i < workers.size(); ++i) {
        const pid_t child = fork();
        if (child < 0) rival::refuse("no more processes");
        if (child == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            work(workers[i], i, shared);
        }
        children.push_back(child);
    }

    std::vector<double> sum(problem.columns());
    rival::Update update(problem);
    rival::Clock clock;
    std::int64_t covered_in_all = 0;
    for (int t = 1; t <= problem.rounds; ++t) {
        const auto mine = static_cast<std::uint32_t>(t);
        shared.round->word = mine;
        wake(shared.round->word, INT_MAX);
        std::vector<bool> received(workers.size()), covered(static_cast<std::size_t>(groups));
        int answers = 0, done = 0;
        while (answers < collect && done < groups) {
            const auto rung = shared.answers->word.load();
            const int before = answers;
            for (std::size_t i = 0; i < workers.size() && answers < collect && done < groups; ++i) {
                if (received[i] || shared.answered[i].word != mine) continue;
                received[i] = true;
                ++answers;
                const auto group = i / static_cast<std::size_t>(replicas);
                if (covered[group]) continue;
                covered[group] = true;
                ++done;
                const auto& touched = workers[i].touched;
                const auto* contribution = shared.contribution[i];
                for (std::size_t j = 0; j < touched.size(); ++j)
                    sum[static_cast<std::size_t>(touched[j])] += contribution[j];
            }
            if (answers == before) wait(shared.answers->word, rung);
        }
        covered_in_all += done;
        update(shared.point, sum.data(), static_cast<double>(groups) / done);
        clock.round();
    }
    for (const auto child : children) {
        kill(child, SIGKILL);
        waitpid(child, nullptr, 0);
    }
    const auto rows = static_cast<double>(problem.rows());
    clock.print(
        rival::Rows(problem.data, 1, 0).loss(shared.point) / rows,
        fmt::format(", \"groups\": {:.4g}", static_cast<double>(covered_in_all) / problem.rounds));
}
