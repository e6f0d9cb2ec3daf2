/// Trees between the host and a place, and watches.
#include "contract/contract.hpp"

#include "support/temp_dir.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

namespace berth::contract {
namespace {

namespace fs = std::filesystem;

/// A tree with everything that is carried.
void make_tree(const temp_dir& at) {
  fs::create_directories(at / "src/deep");
  fs::create_directories(at / "empty");
  fs::create_directories(at / "node_modules/pkg");
  write_whole_file(at / "src/main.py", "print()\n");
  write_whole_file(at / "src/deep/big", std::string(3'000'000, 'b'));
  write_whole_file(at / "src/main.pyc", "cache");
  write_whole_file(at / "node_modules/pkg/x", "x");
  write_whole_file(at / "run", "#!/bin/sh\n");
  write_whole_file(at / "odd\nname \xff", "odd");
  fs::permissions(at / "run", static_cast<fs::perms>(0750));
  fs::permissions(at / "empty", static_cast<fs::perms>(0711));
  fs::create_symlink("src/main.py", at / "link");
  std::string command = "touch -d @1000000 '" + (at / "run") + "'";
  REQUIRE(std::system(command.c_str()) == 0);
}

std::string paths_of(const std::vector<file_info>& list) {
  std::string all;
  for (const auto& each : list) all += each.path() + " ";
  return all;
}

task<void> up_and_down(context& place, handle where) {
  const temp_dir from, to;
  make_tree(from);
  const transfer_progress up = co_await place.upload(where, from.path(), "copy");
  CHECK(up.entries() == 12);
  CHECK(up.bytes() == 3'000'000 + 8 + 5 + 1 + 10 + 3);
  CHECK(up.skipped().empty());
  const auto list = co_await place.list_files(where, "copy", list_options().recursive());
  CHECK(paths_of(list) ==
        "empty link node_modules node_modules/pkg node_modules/pkg/x odd\nname \xff run src src/deep "
        "src/deep/big src/main.py src/main.pyc ");
  file_info info = co_await place.stat(where, "copy/run");
  CHECK(info.mode() == 0750);
  CHECK(info.modified() == file_info::time_point(1'000'000s));
  info = co_await place.stat(where, "copy/empty");
  CHECK(info.mode() == 0711);
  info = co_await place.stat(where, "copy/link");
  CHECK(info.link_target() == "src/main.py");
  const transfer_progress down = co_await place.download(where, "copy", to / "back");
  CHECK(down.entries() == up.entries());
  CHECK(down.bytes() == up.bytes());
  const std::string same = "diff -r '" + from.path().string() + "' '" + (to / "back") + "'";
  CHECK(std::system(same.c_str()) == 0);
}

task<void> excludes(context& place, handle where) {
  const temp_dir from, to;
  make_tree(from);
  co_await place.upload(where, from.path(), "copy",
                        transfer_options().exclude("*.pyc").exclude("node_modules/").exclude("/run"));
  auto list = co_await place.list_files(where, "copy", list_options().recursive());
  CHECK(paths_of(list) == "empty link odd\nname \xff src src/deep src/deep/big src/main.py ");
  co_await place.download(where, "copy", to.path(), transfer_options().exclude("src/**").exclude("odd*"));
  std::string left;
  for (const auto& each : fs::recursive_directory_iterator(to.path())) left += each.path().filename().string() + " ";
  CHECK(left.size() == std::string("empty link src ").size());
  const std::error_code code =
      co_await failure_of(place.upload(where, from.path(), "x", transfer_options().exclude("!a")));
  CHECK(code == errc::invalid_argument);
}

task<void> progress(context& place, handle where) {
  const temp_dir from, to;
  make_tree(from);
  std::vector<std::uint64_t> seen;
  auto note = [&seen](const transfer_progress& now) { seen.push_back(now.bytes()); };
  const transfer_progress up = co_await place.upload(where, from.path(), "copy", transfer_options().on_progress(note));
  CHECK(seen.size() > 3);
  CHECK(std::is_sorted(seen.begin(), seen.end()));
  CHECK(seen.back() == up.bytes());
  seen.clear();
  const transfer_progress down =
      co_await place.download(where, "copy", to.path(), transfer_options().on_progress(note));
  CHECK(seen.size() > 3);
  CHECK(seen.back() == down.bytes());
  auto stop = [](const transfer_progress&) { throw std::runtime_error("enough"); };
  bool stopped = false;
  try {
    co_await place.upload(where, from.path(), "copy2", transfer_options().on_progress(stop));
  } catch (const std::runtime_error&) {
    stopped = true;
  }
  CHECK(stopped);
}

task<void> single_files(context& place, handle where) {
  const temp_dir from, to;
  write_whole_file(from / "f", std::string(700'000, 'f'));
  fs::permissions(from / "f", static_cast<fs::perms>(0755));
  const transfer_progress up = co_await place.upload(where, from / "f", "bin/tool");
  CHECK(up.entries() == 1);
  CHECK(up.bytes() == 700'000);
  const file_info info = co_await place.stat(where, "bin/tool");
  CHECK(info.mode() == 0755);
  CHECK(info.size() == 700'000);
  co_await place.exec(where, "ln -s bin/tool link; ln -s bin dir");
  co_await place.download(where, "link", to / "tool");
  CHECK(read_whole_file(to / "tool").size() == 700'000);
  co_await place.download(where, "dir", to / "tree");
  CHECK(read_whole_file(to / "tree/tool").size() == 700'000);
}

task<void> no_link_at_the_end(context& place, handle where) {
  const temp_dir to, outside;
  write_whole_file(outside / "f", "out");
  fs::create_symlink(outside / "f", to / "file");
  fs::create_symlink(outside / "none", to / "dangling");
  fs::create_directory_symlink(outside.path(), to / "dir");
  co_await place.write_file(where, "f", "in");
  co_await place.write_file(where, "d/g", "in");
  std::error_code code = co_await failure_of(place.download(where, "f", to / "file"));
  CHECK(code == errc::invalid_argument);
  code = co_await failure_of(place.download(where, "f", to / "dangling"));
  CHECK(code == errc::invalid_argument);
  code = co_await failure_of(place.download(where, "d", to / "dir"));
  CHECK(code == errc::invalid_argument);
  code = co_await failure_of(place.download(where, "d", to / "dir/"));
  CHECK(code == errc::invalid_argument);
  CHECK(read_whole_file(outside / "f") == "out");
  CHECK(std::distance(fs::directory_iterator(outside.path()), {}) == 1);
  co_await place.download(where, "f", to / "dir/h");
  co_await place.download(where, "d", to / "dir/.");
  CHECK(read_whole_file(outside / "h") == "in");
  CHECK(read_whole_file(outside / "g") == "in");
}

task<void> transfer_errors(context& place, handle where) {
  const temp_dir host;
  std::error_code code = co_await failure_of(place.upload(where, host / "none", "x"));
  CHECK(code == errc::not_found);
  code = co_await failure_of(place.download(where, "none", host / "x"));
  CHECK(code == errc::not_found);
  CHECK_FALSE(fs::exists(host / "x"));
  co_await place.write_file(where, "f", "file");
  write_whole_file(host / "f", "other");
  code = co_await failure_of(place.upload(where, host.path(), "f"));
  CHECK(code == errc::not_a_directory);
  co_await place.make_directory(where, "d/f");
  code = co_await failure_of(place.upload(where, host.path(), "d"));
  CHECK(code == errc::is_a_directory);
}

task<void> merging(context& place, handle where) {
  const temp_dir from;
  write_whole_file(from / "new", "new");
  write_whole_file(from / "both", "theirs");
  fs::create_symlink("new", from / "becomes-link");
  co_await place.exec(where, "mkdir d; printf mine > d/mine; printf mine > d/both; printf mine > d/becomes-link");
  co_await place.upload(where, from.path(), "d");
  const auto list = co_await place.list_files(where, "d");
  CHECK(paths_of(list) == "becomes-link both mine new ");
  CHECK(list[0].type() == file_type::symlink);
  const std::string both = co_await place.read_file(where, "d/both");
  CHECK(both == "theirs");
}

task<void> outside(context& place, handle where) {
  const temp_dir to;
  co_await place.exec(
      where, "mkdir d; ln -s /etc/passwd d/absolute; ln -s ../../x d/up; ln -s f d/fine; touch d/f; mkfifo d/pipe");
  transfer_progress done = co_await place.download(where, "d", to / "safe");
  std::vector<std::string> skipped = done.skipped();
  std::sort(skipped.begin(), skipped.end());
  CHECK_FALSE(fs::is_symlink(to / "safe/absolute"));
  CHECK_FALSE(fs::is_symlink(to / "safe/up"));
  CHECK(fs::is_symlink(to / "safe/fine"));
  CHECK(skipped == std::vector<std::string>{"absolute", "pipe", "up"});
  done = co_await place.download(where, "d", to / "all", transfer_options().keep_outside_links());
  CHECK(fs::is_symlink(to / "all/absolute"));
}

task<int> upload_copy(context& place, handle where, std::string from) {
  co_await place.upload(where, from, "copy");
  co_return 0;
}

task<void> cancelled_upload(context& place, handle where) {
  const temp_dir from;
  write_whole_file(from / "f", std::string(40'000'000, 'f'));
  running<int> going(place.get_executor(), upload_copy(place, where, from.path()));
  co_await pause_for(10ms);
  const stopwatch clock;
  going.cancel();
  (void)co_await failure_of(going.result());
  CHECK(clock.elapsed() < 1s);
  const exec_result left = co_await place.exec(where, "find copy -name '.berth-*'");
  CHECK(left.std_out.empty());
}

std::string shown(const std::vector<watch_event>& events) {
  std::string all;
  for (const auto& each : events) all += std::string(to_string(each.kind())) + " " + each.path() + ";";
  return all;
}

task<void> watching(context& place, handle where) {
  watcher eyes = co_await place.watch(where, ".");
  co_await place.write_file(where, "f", "1");
  auto events = co_await eyes.next();
  CHECK(shown(events) == "created f;");
  co_await place.exec(where, "for i in 1 2 3 4 5; do echo $i >> f; done; touch gone; rm gone");
  events = co_await eyes.next();
  CHECK(shown(events) == "modified f;");
  co_await place.exec(where, "rm f; mkdir d; touch d/unseen");
  events = co_await eyes.next();
  CHECK(shown(events) == "removed f;created d;");
}

task<void> watching_deep(context& place, handle where) {
  co_await place.make_directory(where, "top/a");
  watcher eyes = co_await place.watch(where, "top", watch_options().recursive());
  co_await place.write_file(where, "top/a/f", "1");
  auto events = co_await eyes.next();
  CHECK(shown(events) == "created a/f;");
  co_await place.write_file(where, "top/new/deep/g", "1");
  events = co_await eyes.next();
  CHECK(shown(events) == "created new;created new/deep;created new/deep/g;");
  co_await place.remove(where, "top", remove_options().recursive());
  std::string all;
  while (all.find("removed .;") == std::string::npos) {
    events = co_await eyes.next();
    all += shown(events);
  }
  const std::error_code code = co_await failure_of(eyes.next());
  CHECK(code == errc::not_found);
}

task<void> watching_one(context& place, handle where) {
  co_await place.write_file(where, "f", "1");
  watcher eyes = co_await place.watch(where, "f");
  co_await place.write_file(where, "other", "1");
  co_await place.write_file(where, "f", "2");
  const auto events = co_await eyes.next();
  CHECK(shown(events) == "created f;");
  const std::error_code code = co_await failure_of(place.watch(where, "none"));
  CHECK(code == errc::not_found);
}

task<int> next_events(watcher& eyes) {
  (void)co_await eyes.next();
  co_return 0;
}

task<void> watching_cancelled(context& place, handle where) {
  watcher eyes = co_await place.watch(where, ".");
  running<int> waiting(place.get_executor(), next_events(eyes));
  co_await pause_for(20ms);
  waiting.cancel();
  const std::error_code code = co_await failure_of(waiting.result());
  CHECK(is_cancelled(code));
  co_await place.write_file(where, "f", "1");
  const auto events = co_await eyes.next();
  CHECK(shown(events) == "created f;");
}

constexpr contract_case transfer_table[] = {
    {"transfer: a tree goes up and down with modes, times, links and odd names", up_and_down, 30s},
    {"transfer: what is excluded stays behind", excludes, 30s},
    {"transfer: progress is told, and what its callback throws ends the transfer", progress, 30s,
     needs::streamed_files},
    {"transfer: single files go by name", single_files},
    {"transfer: what is missing or in the way is an error", transfer_errors},
    {"transfer: an upload merges, and replaces what is no directory", merging},
    {"transfer: a download makes no link that leads out, unless asked", outside},
    {"transfer: a download follows no link at the end of its path", no_link_at_the_end},
    {"transfer: a cancelled upload ends promptly and leaves no piece of a file", cancelled_upload, 30s},
    {"watch: each path that changed is told once", watching, needs::watches},
    {"watch: a recursive one sees new directories and its own end", watching_deep, needs::watches},
    {"watch: one file, through its replacements", watching_one, needs::watches},
    {"watch: a cancelled wait loses nothing", watching_cancelled, needs::watches},
};

}  // namespace

std::span<const contract_case> transfer_cases() { return transfer_table; }

}  // namespace berth::contract
