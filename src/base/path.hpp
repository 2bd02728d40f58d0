// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <string>

namespace quorate {

/// What to say of a file that has not opened: why, by errno, and the nearest name in its folder.
std::string cannot_open(const std::string& path);

/// Opens a file to read its bytes.
/// @throws BadInput if it cannot be opened, or is no regular file
std::ifstream open_file(const std::string& path);

/// Returns of a symbolic link the file that it points to, beside which stands what belongs to it;
/// else the path itself.
std::string target_of(const std::string& path);

/// Returns what a file of text holds, to its end; nothing if it cannot be opened, or is a folder.
/// @throws Failure if it cannot be read
std::optional<std::string> contents_of(const std::string& path);

/// Finds out, before any work, whether a file can be written: makes a file beside it and removes
/// it.
/// @param option  the option that named the path, for the message
/// @throws BadInput if the folder is missing or cannot be written, or the path is a folder
void check_writable(const std::string& path, const std::string& option);

/// The folder for temporary files: TMPDIR or what else names one, else /tmp.
/// @throws BadInput if it is no folder that can be written
std::filesystem::path temporary_folder();

/// Makes an empty file beside a file, for what is not complete. Nobody can foretell its name.
/// @throws Failure
std::string temporary_name(const std::string& path);

/// Waits until a file is on disk. @throws Failure
void sync_file(const std::string& path);
/// Waits until the names in the folder of a file are on disk. @throws Failure
void sync_folder_of(const std::string& path);

/// Puts a file that is complete under its final name, once it is on disk, and waits until the name
/// is. @throws Failure
void move_into_place(const std::string& temporary, const std::string& path);

/// Writes a file, which is whole or is not there: under a temporary name, which it loses at the
/// end.
/// @param write  writes the file of that name; if it throws, that file is removed
/// @throws Failure if the file cannot get its name
void write_whole(const std::string& path,
                 const std::function<void(const std::string& temporary)>& write);

/// Writes a small file likewise. @throws Failure
void write_file(const std::string& path, const std::string& text);

}  // namespace quorate
