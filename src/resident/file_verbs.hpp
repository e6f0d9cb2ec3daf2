#pragma once
/// The resident as a program that does one thing to the files of its place: docs/resident.md, "Files".

#include "resident/file_base.hpp"

#include <dirent.h>
#include <sys/stat.h>

namespace berth::resident {

/// The verb and its words. What main() returns.
int run_file_verb(int count, char** words);

// Each refuses, or returns once it has answered.
void stat_path(const char* path);
void list_tree(const char* path, std::uint64_t depth);
void remove_path(const char* path, bool recursive);
void rename_path(const char* from, const char* to);
void read_file(const char* path, std::uint64_t offset, std::uint64_t limit);
/// A negative mode, or no hash: not given.
void write_file(const char* path, std::uint32_t flags, int mode, const char* hash);
void pack_tree(const char* path, char** patterns, int count);
void unpack_tree(const char* path);
void watch_path(const char* path, bool recursive);

}  // namespace berth::resident
