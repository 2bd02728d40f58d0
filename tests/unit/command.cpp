// SPDX-License-Identifier: BSD-2-Clause
#include "command.hpp"

#include <iomanip>
#include <memory>
#include <mutex>
#include <sstream>

#include "base/error.hpp"
#include "base/log.hpp"
#include "cli/command.hpp"
#include "cli/parse.hpp"

namespace quorate::test {

std::vector<std::string> words_in(const std::string& text)
{
    std::istringstream in(text);
    std::vector<std::string> words;
    for (std::string word; in >> std::quoted(word, '\'');) words.push_back(word);
    return words;
}

Said command(const std::vector<std::string>& words, const std::function<int(const Settings&)>& run)
{
    // Messages come from other threads too.
    struct Messages {
        std::mutex mutex;
        std::string text;
        void add(const std::string& line)
        {
            const std::lock_guard lock(mutex);
            text += line + "\n";
        }
    };
    const auto messages = std::make_shared<Messages>();
    log_to([](LogLevel, const std::string&) {});
    log_also_to([messages](LogLevel, const std::string& text) { messages->add(text); });
    int status = exit_done;
    try {
        const auto one = command_named(words.at(0));
        auto settings = parse(one, {words.begin() + 1, words.end()});
        settings.command_line = "quorate";
        status = run ? run(settings) : one.run(settings);
    } catch (const BadInput& wrong) {
        status = exit_bad_input;
        messages->add(wrong.what());
    } catch (const Failure& failed) {
        status = exit_failed;
        messages->add(failed.what());
    }
    log_to({});
    log_also_to({});
    const std::lock_guard lock(messages->mutex);
    return {status, messages->text};
}

Said command(const std::string& words) { return command(words_in(words)); }

}  // namespace quorate::test
