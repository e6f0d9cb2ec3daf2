/// What do the file calls cost beyond the system calls, and a tree of 1000 files up and down?

#include "suite/floor.hpp"
#include "suite/suite.hpp"
#include "suite/warm_place.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace berth::suite {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t small = 4096;
constexpr int tree_folders = 10;
constexpr int files_in_folder = 100;

/// A place, and a folder for what is read and written.
struct file_bench {
  shared_place warm;
  std::optional<scratch_directory> directory;
  fs::path folder;  ///< the same
};
using shared_bench = std::shared_ptr<file_bench>;

void write_bytes(const fs::path& path, std::size_t size) {
  std::ofstream file(path, std::ios::binary);
  file << std::string(size, 'x');
  if (!file.flush()) throw std::runtime_error("cannot write " + path.string());
}

task<void> begin_files(shared_bench its) {
  co_await open_place(its->warm);
  if (its->directory) co_return;
  its->directory.emplace("berth-bench");
  its->folder = its->directory->path();
  write_bytes(its->folder / "small", small);
  for (int i = 0; i < tree_folders; ++i) {
    const auto folder = its->folder / "tree" / std::to_string(i);
    fs::create_directories(folder);
    for (int k = 0; k < files_in_folder; ++k) write_bytes(folder / std::to_string(k), 1024);
  }
}

task<void> end_files(shared_bench its) {
  its->directory.reset();
  co_await close_place(its->warm);
}

[[noreturn]] void throw_errno(const char* what) { throw std::system_error(errno, std::generic_category(), what); }

// ---- 4 KiB ----------------------------------------------------------------------------------------------------------

task<double> bare_read(shared_bench its) {
  const std::string path = its->folder / "small";
  std::string bytes(small, '\0');
  const bench::stopwatch watch;
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) throw_errno("open");
  const auto got = ::read(fd, bytes.data(), bytes.size());
  ::close(fd);
  const double micros = watch.micros();
  if (got != static_cast<ssize_t>(small)) throw_errno("read");
  co_return micros;
}

task<double> our_read(shared_bench its) {
  context place = *its->warm->place;
  std::string path = its->folder / "small";
  const bench::stopwatch watch;
  const auto bytes = co_await place.read_file(its->warm->where, std::move(path));
  const double micros = watch.micros();
  if (bytes.size() != small) throw std::runtime_error("bytes are missing");
  co_return micros;
}

/// A new file in the old one's stead.
task<double> bare_write(shared_bench its) {
  const std::string path = its->folder / "written";
  const std::string fresh = its->folder / "fresh";
  const std::string bytes(small, 'x');
  const bench::stopwatch watch;
  const int fd = ::open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0) throw_errno("open");
  const auto put = ::write(fd, bytes.data(), bytes.size());
  ::close(fd);
  if (put != static_cast<ssize_t>(small) || ::rename(fresh.c_str(), path.c_str()) != 0) throw_errno("write");
  co_return watch.micros();
}

task<double> our_write(shared_bench its) {
  context place = *its->warm->place;
  std::string path = its->folder / "written";
  std::string bytes(small, 'x');
  const bench::stopwatch watch;
  co_await place.write_file(its->warm->where, std::move(path), std::move(bytes));
  co_return watch.micros();
}

// ---- a tree ---------------------------------------------------------------------------------------------------------

task<double> bare_tree(shared_bench its) {
  const bench::stopwatch watch;
  fs::copy(its->folder / "tree", its->folder / "up", fs::copy_options::recursive);
  fs::copy(its->folder / "up", its->folder / "down", fs::copy_options::recursive);
  const double millis = watch.millis();
  fs::remove_all(its->folder / "up");
  fs::remove_all(its->folder / "down");
  co_return millis;
}

task<double> our_tree(shared_bench its) {
  context place = *its->warm->place;
  const std::string tree = its->folder / "tree";
  const std::string up = its->folder / "up";
  const std::string down = its->folder / "down";
  const bench::stopwatch watch;
  co_await place.upload(its->warm->where, tree, up);
  const auto done = co_await place.download(its->warm->where, up, down);
  const double millis = watch.millis();
  fs::remove_all(up);
  fs::remove_all(down);
  if (done.bytes() != std::uint64_t{1024} * tree_folders * files_in_folder)
    throw std::runtime_error("bytes are missing");
  co_return millis;
}

}  // namespace

subjects file_suite(asio::io_context& io) {
  const auto its = std::make_shared<file_bench>();
  its->warm = std::make_shared<warm_place>(io);
  subjects all;
  const auto add = [&](bench::subject what, task<double> (*sample)(shared_bench)) {
    what.sample = [its, sample] { return sample(its); };
    what.prepare = [its] { return begin_files(its); };
    what.finish = [its] { return end_files(its); };
    all.push_back(std::move(what));
  };
  add({.name = "file/read4k-floor", .runs = 500}, bare_read);
  add({.name = "file/read4k", .bases = {{"file/read4k-floor"}}, .runs = 500}, our_read);
  add({.name = "file/write4k-floor", .runs = 500}, bare_write);
  add({.name = "file/write4k", .bases = {{"file/write4k-floor"}}, .runs = 500}, our_write);
  add({.name = "file/tree-floor", .unit = "ms", .runs = 20, .warmup = 2}, bare_tree);
  add({.name = "file/tree", .bases = {{"file/tree-floor"}}, .unit = "ms", .runs = 20, .warmup = 2}, our_tree);
  return all;
}

}  // namespace berth::suite
