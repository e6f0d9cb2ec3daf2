/// Files by commands of a resident: what the contract's cases (tests/contract) do not ask.
#include "context/resident_files.hpp"

#include "contract/file_sources.hpp"
#include "host/host_files.hpp"
#include "host/process_backend.hpp"
#include "support/async.hpp"
#include "support/proc_scan.hpp"
#include "support/running.hpp"
#include "support/tar_entries.hpp"
#include "support/temp_dir.hpp"
#include "support/waiting.hpp"

#include <berth/error.hpp>

#include <sys/stat.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>

using namespace berth;
using namespace berth::test;
using namespace std::chrono_literals;

namespace fs = std::filesystem;

namespace {

/// A place of the host, its files by the resident, and those of the host to compare with.
struct both {
  static task<std::shared_ptr<both>> make(asio::io_context& io,
                                          resident_transport transport = resident_transport::handed) {
    auto made = std::make_shared<both>();
    made->backend = make_process_backend(io.get_executor(), process_context_options(), transport);
    spawned_place spawned = co_await made->backend->spawn("1", spawn_options());
    made->place = spawned.place;
    command_starter start = [place = made->place](command what) { return place->start(std::move(what)); };
    made->resident.emplace(std::move(start));
    made->host = made->place->files();
    co_return made;
  }

  std::shared_ptr<context_backend> backend;
  std::shared_ptr<backend_place> place;
  std::optional<resident_files> resident;
  backend_files* host = nullptr;
};

/// Code and words of what the work throws, as one text.
task<std::string> refusal_of(task<void> work) {
  try {
    co_await std::move(work);
  } catch (const error& caught) {
    co_return std::string(caught.code().category().name()) + " " + std::to_string(caught.code().value()) + " " +
        caught.message();
  } catch (const std::system_error& caught) {
    co_return is_cancelled(caught.code()) ? "cancelled" : caught.what();
  } catch (const std::runtime_error& caught) {
    co_return caught.what();
  }
  co_return std::string("fine");
}

/// The code alone.
std::string code_in(const std::string& refusal) { return refusal.substr(0, refusal.find(' ', refusal.find(' ') + 1)); }

template <class T>
task<void> forget_result(task<T> work) {
  (void)co_await std::move(work);
}

task<void> read_all(backend_files* files, std::string path) {
  auto from = co_await files->open(std::move(path), read_options().limit(10));
  (void)co_await contract::drain(std::move(from));
}

task<void> pack_all(backend_files* files, std::string path) {
  const std::vector<std::string> nothing;
  const std::function<void(std::string)> nobody = [](const std::string&) {};
  auto from = co_await files->pack(std::move(path), nothing, nobody);
  (void)co_await contract::drain(std::move(from));
}

/// Type, mode, size, time, content and target of everything below.
std::map<std::string, std::string> tree_at(const fs::path& top) {
  std::map<std::string, std::string> all;
  for (const auto& each : fs::recursive_directory_iterator(top)) {
    struct stat found {};
    ::lstat(each.path().c_str(), &found);
    std::string what = std::to_string(found.st_mode) + " " + std::to_string(found.st_nlink);
    const bool came = each.path().string().find("/to/") != std::string::npos;
    if (S_ISREG(found.st_mode))
      what += " " + (came ? std::to_string(found.st_mtim.tv_sec) : "") + " " + read_whole_file(each.path());
    if (S_ISLNK(found.st_mode)) what += " " + fs::read_symlink(each.path()).string();
    all[each.path().lexically_relative(top).string()] = what;
  }
  return all;
}

std::string shown(const std::map<std::string, std::string>& tree) {
  std::string all;
  for (const auto& [name, what] : tree)
    all += name + ": " + what.substr(0, 60) + " " + std::to_string(what.size()) + " " + content_hash(what) + "\n";
  return all;
}

task<void> unpack_bytes(backend_files* files, std::string path, std::string tar) {
  auto from = make_byte_source(std::move(tar));
  co_await files->unpack(std::move(path), std::move(from));
}

std::vector<std::string> hostile_streams() {
  const auto e = [](auto... words) { return tar_entry_of(words...); };
  std::vector<std::string> all;
  for (const char* name : {"../evil", "/tmp/berth-evil", "a/../../evil", "..", "a/b/../../../evil", "./", "a//b/./c"})
    all.push_back(e('0', name, "evil"));
  all.push_back(e('1', "hard", "", "../outside"));
  all.push_back(e('2', "link", "", "../outside") + e('0', "link/evil", "evil"));
  all.push_back(e('2', "link", "", "../outside") + e('5', "link/d/e"));
  all.push_back(e('2', "link", "", "../outside") + e('5', "link/"));
  all.push_back(e('2', "f", "", "../outside/f") + e('0', "f", "mine"));
  all.push_back(e('0', "a/f", "1") + e('1', "b", "", "a/f") + e('1', "b", "", "a/f"));
  all.push_back(e('2', "l", "", "..") + e('1', "s", "", "l/secret"));
  all.push_back(e('1', "s", "", "none"));
  all.push_back(e('6', "fifo") + e('3', "device") + e('0', "f", "x", "", "0004755"));
  all.push_back(e('5', "d", "", "", "0001777") + e('0', "d/f", "x", "", "0000400") + e('5', "e", "", "", "0000500"));
  all.push_back(e('0', "f", "x") + e('5', "f"));
  all.push_back(e('5', "d") + e('0', "d", "x"));
  all.push_back(e('5', "d") + e('2', "d", "", "x"));
  all.push_back(e('0', "f", "x") + e('0', "f/g", "x"));
  all.push_back(e('0', "f", "x") + e('0', "f", "longer") + e('2', "f", "", "target"));
  all.push_back(e('0', std::string(99, 'n'), "x") + e('0', "bad\xff\nname", "x"));
  all.push_back(e('5', "top/", "", "", "0000755") + e('0', "top/old.", std::string(70'000, 'o')));
  return all;
}

}  // namespace

ASYNC_TEST_FOR("resident files: of each tar stream comes what the host makes of it", 60s) {
  const auto at = co_await both::make(io);
  for (const std::string& entries : hostile_streams()) {
    const temp_dir base;
    std::map<std::string, std::string> trees[2];
    std::string words[2];
    for (const int which : {0, 1}) {
      fs::create_directories(base / "outside");
      write_whole_file(base / "outside/f", "theirs");
      write_whole_file(base / "secret", "secret");
      backend_files* const files = which == 0 ? at->host : &*at->resident;
      words[which] = co_await refusal_of(unpack_bytes(files, base / "to", finished_tar(entries)));
      trees[which] = tree_at(base.path());
      for (const auto& each : fs::directory_iterator(base.path())) fs::remove_all(each.path());
    }
    // libarchive has words of its own for what is no archive.
    const std::string both_words = words[0] + " / " + words[1];
    CHECK_MESSAGE(code_in(words[1]) == code_in(words[0]), both_words);
    CHECK(shown(trees[1]) == shown(trees[0]));
  }
  co_await at->place->destroy();
}

ASYNC_TEST_FOR("resident files: a tar stream that breaks off leaves whole files only", 60s) {
  const auto at = co_await both::make(io);
  const temp_dir base;
  const auto tar = finished_tar(tar_entry_of('0', "a", std::string(700, 'a')) + tar_entry_of('0', "b", "b"));
  for (std::size_t size = 0; size + 1024 <= tar.size(); size += 256) {
    const std::string words = co_await refusal_of(unpack_bytes(&*at->resident, base / "to", tar.substr(0, size)));
    CHECK(words.find("the tar stream breaks off") != std::string::npos);
    for (const auto& [name, what] : tree_at(base.path())) CHECK(what.find(" .berth-") == what.npos);
    if (fs::exists(base / "to/a")) CHECK(fs::file_size(base / "to/a") == 700);
  }
  const std::string words = co_await refusal_of(unpack_bytes(&*at->resident, base / "to", "this is no tar at all"));
  CHECK(words.find("breaks off") != std::string::npos);
  co_await at->place->destroy();
}

ASYNC_TEST_FOR("resident files: errors have the host's codes and words", 60s) {
  const auto at = co_await both::make(io);
  const temp_dir base;
  const std::string top = base.path();
  write_whole_file(base / "f", "content");
  fs::create_directories(base / "d/full");
  fs::create_symlink("loop", base / "loop");
  fs::create_symlink("none", base / "dangling");
  REQUIRE(::mkfifo((base / "p").c_str(), 0644) == 0);
  std::vector<std::string> paths;
  for (const char* name : {"f", "f/", "f/x", "d", "d/", "none", "none/x", "loop", "loop/x", "dangling", "dangling/x",
                           "p", "", "d/.", "d/..", ".", "d/full/../../f", "./f"})
    paths.push_back(top + "/" + name);
  paths.push_back("/");
  paths.push_back(top + "/" + std::string(300, 'n'));
  paths.push_back("/" + std::string(5000, 'n'));
  paths.push_back("/proc/self/fd/0");
  paths.push_back("/proc/self/cwd/f");
  paths.push_back("/proc/none");
  paths.push_back("/dev/null");
  for (const std::string& path : paths) {
    std::string words[2];
    for (const int which : {0, 1}) {
      backend_files* const files = which == 0 ? at->host : &*at->resident;
      auto note = [&](std::string what) { words[which] += what + "\n"; };
      note(co_await refusal_of(forget_result(files->stat(path))));
      note(co_await refusal_of(forget_result(files->list(path, list_options()))));
      note(co_await refusal_of(read_all(files, path)));
      note(co_await refusal_of(files->rename(path, top + "/none/there")));
      note(co_await refusal_of(files->remove(path + "/none", remove_options())));
      auto hash = write_options().make_parents(false).expect_hash("xxh3:00");
      note(co_await refusal_of(files->write(path, make_byte_source("x"), hash)));
      auto absent = write_options().make_parents(false).expect_absent();
      std::error_code unseen;
      const bool there = fs::exists(fs::symlink_status(path.substr(0, path.find_last_not_of('/') + 1), unseen));
      if (there) note(co_await refusal_of(files->write(path, make_byte_source("x"), absent)));
      if (path.starts_with(top)) note(co_await refusal_of(pack_all(files, path)));
      if (there) note(co_await refusal_of(files->make_directory(path)));
      if (path.size() > 1000 || path.find("/x") != path.npos)
        note(co_await refusal_of(unpack_bytes(files, path, finished_tar(""))));
      if (path.find("none") != path.npos || path.ends_with("loop"))
        note(co_await refusal_of(forget_result(files->watch(path, watch_options()))));
      fs::remove_all(base / "none");
    }
    CHECK_MESSAGE(words[1] == words[0], path);
  }
  co_await at->place->destroy();
}
