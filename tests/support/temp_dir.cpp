#include "support/temp_dir.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <system_error>

namespace berth::test {
namespace {

namespace fs = std::filesystem;

fs::path make_directory(const fs::path& parent) {
  std::string name = (parent / "berth-test-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::system_error(errno, std::system_category(), name);
  // What commands print as their directory has no links in it.
  return fs::canonical(name);
}

struct owned_directory {
  fs::path path = make_directory(fs::temp_directory_path());
  pid_t owner = getpid();

  owned_directory() {
    // Commands of another user must get through it to the directories of tests.
    fs::permissions(path,
                    fs::perms::group_read | fs::perms::group_exec | fs::perms::others_read | fs::perms::others_exec,
                    fs::perm_options::add);
    setenv("TMPDIR", path.c_str(), 1);
  }
  ~owned_directory() {
    std::error_code ignored;
    if (getpid() == owner) fs::remove_all(path, ignored);
  }
};

}  // namespace

const fs::path& private_temporary_directory() {
  static const owned_directory directory;
  return directory.path;
}

temp_dir::temp_dir() : path_(make_directory(private_temporary_directory())) {
  // Commands of another user work here too.
  fs::permissions(path_, fs::perms::all);
}

temp_dir::~temp_dir() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

std::string read_whole_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_whole_file(const fs::path& path, std::string_view bytes) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.flush();
  if (!file) throw std::system_error(std::make_error_code(std::errc::io_error), path.string());
}

}  // namespace berth::test
