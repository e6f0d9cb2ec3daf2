#pragma once
/// Directories for the files of a test.

#include <filesystem>
#include <string>
#include <string_view>

namespace berth::test {

/// The directory that TMPDIR names while this program runs: its own, removed at its end. The first call makes it.
const std::filesystem::path& private_temporary_directory();

/// A new directory that goes, with all that is in it, when the object does.
class temp_dir {
 public:
  temp_dir();
  ~temp_dir();
  temp_dir(const temp_dir&) = delete;
  temp_dir& operator=(const temp_dir&) = delete;

  const std::filesystem::path& path() const { return path_; }
  /// The path of an entry, as a string.
  std::string operator/(std::string_view name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

std::string read_whole_file(const std::filesystem::path& path);
void write_whole_file(const std::filesystem::path& path, std::string_view bytes);

}  // namespace berth::test
