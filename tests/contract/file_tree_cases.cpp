/// Directories: listing, making, removing, renaming.
#include "contract/contract.hpp"

#include <algorithm>
#include <chrono>

namespace berth::contract {
namespace {

std::string paths_of(const std::vector<file_info>& list) {
  std::string all;
  for (const auto& each : list) all += each.path() + " ";
  return all;
}

task<void> listing(context& place, handle where) {
  co_await place.exec(where,
                      "printf 12345 > b; mkdir -p a/deep/er; ln -s b link; mkfifo p; chmod 640 b; touch -d @1000000 b");
  auto list = co_await place.list_files(where, ".");
  CHECK(paths_of(list) == "a b link p ");
  REQUIRE(list.size() == 4);
  CHECK(list[0].is_directory());
  CHECK(list[1].is_regular());
  CHECK(list[1].size() == 5);
  CHECK(list[1].mode() == 0640);
  CHECK(list[1].modified() == file_info::time_point(1'000'000s));
  CHECK(list[2].type() == file_type::symlink);
  CHECK(list[2].link_target() == "b");
  CHECK(list[3].type() == file_type::other);
  list = co_await place.list_files(where, ".", list_options().depth(2));
  CHECK(paths_of(list) == "a a/deep b link p ");
  list = co_await place.list_files(where, "a", list_options().recursive());
  CHECK(paths_of(list) == "deep deep/er ");
  CHECK(list[1].name() == "er");
  list = co_await place.list_files(where, "a/deep/er");
  CHECK(list.empty());
}

task<void> listing_errors(context& place, handle where) {
  co_await place.write_file(where, "f", "x");
  std::error_code code = co_await failure_of(place.list_files(where, "none"));
  CHECK(code == errc::not_found);
  code = co_await failure_of(place.list_files(where, "f"));
  CHECK(code == errc::not_a_directory);
  code = co_await failure_of(place.list_files(where, ".", list_options().depth(0)));
  CHECK(code == errc::invalid_argument);
}

task<void> listing_links(context& place, handle where) {
  co_await place.exec(where, "mkdir d; touch d/f; ln -s d l; ln -s .. d/up");
  auto list = co_await place.list_files(where, "l");
  CHECK(paths_of(list) == "f up ");
  list = co_await place.list_files(where, ".", list_options().recursive());
  CHECK(paths_of(list) == "d d/f d/up l ");
}

task<void> odd_names(context& place, handle where) {
  const std::string names[] = {"a\nb", "bad\xff\xfe utf8", " space ",     "\xc3\xa9",
                               "-rf",  "'quote\"",         "back\\slash", "\x1b[31m"};
  for (const auto& name : names) {
    co_await place.write_file(where, name, name);
    const std::string back = co_await place.read_file(where, name);
    CHECK(back == name);
  }
  const auto list = co_await place.list_files(where, ".");
  CHECK(list.size() == std::size(names));
  for (const auto& each : list) {
    CHECK(std::count(std::begin(names), std::end(names), each.path()) == 1);
    co_await place.remove(where, each.path());
  }
  const auto empty = co_await place.list_files(where, ".");
  CHECK(empty.empty());
  std::string message;
  try {
    co_await place.read_file(where, "no\nsuch\xff");
  } catch (const error& failure) {
    message = failure.message();
  }
  CHECK(message.find("read_file 'no\\nsuch\\xff'") == 0);
}

task<void> many_entries(context& place, handle where) {
  const exec_result made = co_await place.exec(where, "mkdir d; cd d; seq 100000 | xargs -n 5000 touch");
  REQUIRE(made.ok());
  const stopwatch clock;
  const auto list = co_await place.list_files(where, "d");
  CHECK(list.size() == 100'000);
  CHECK(list.front().path() == "1");
  CHECK(list.back().path() == "99999");
  co_await place.remove(where, "d", remove_options().recursive());
  CHECK(clock.elapsed() < 20s);
  const std::error_code code = co_await failure_of(place.stat(where, "d"));
  CHECK(code == errc::not_found);
}

task<int> list_all(context& place, handle where) {
  co_await place.list_files(where, "/", list_options().recursive());
  co_return 0;
}

task<void> cancelled_listing(context& place, handle where) {
  running<int> all(place.get_executor(), list_all(place, where));
  co_await pause_for(20ms);
  const stopwatch clock;
  all.cancel();
  (void)co_await failure_of(all.result());
  CHECK(clock.elapsed() < 1s);
}

task<void> stat_of_each(context& place, handle where) {
  co_await place.exec(where, "printf abc > f; mkdir d; ln -s f l; ln -s none dangling; chmod 1777 d");
  file_info info = co_await place.stat(where, "f");
  CHECK(info.path() == where.cwd() + "/f");
  CHECK(info.name() == "f");
  CHECK(info.size() == 3);
  const auto age = file_info::time_point::clock::now() - info.modified();
  CHECK(age < 60s);
  info = co_await place.stat(where, "d");
  CHECK(info.is_directory());
  CHECK(info.mode() == 01777);
  CHECK(info.size() == 0);
  info = co_await place.stat(where, "l");
  CHECK(info.type() == file_type::symlink);
  info = co_await place.stat(where, "dangling");
  CHECK(info.link_target() == "none");
  info = co_await place.stat(where, ".");
  CHECK(info.is_directory());
  info = co_await place.stat(where, "/");
  CHECK(info.is_directory());
  const std::error_code code = co_await failure_of(place.stat(where, "none"));
  CHECK(code == errc::not_found);
}

task<void> making(context& place, handle where) {
  co_await place.make_directory(where, "a/b/c");
  co_await place.make_directory(where, "a/b/c");
  co_await place.make_directory(where, "a/x/../y/");
  const auto list = co_await place.list_files(where, "a", list_options().recursive());
  CHECK(paths_of(list) == "b b/c x y ");
  co_await place.write_file(where, "f", "");
  std::error_code code = co_await failure_of(place.make_directory(where, "f"));
  CHECK(code == errc::not_a_directory);
  code = co_await failure_of(place.make_directory(where, "f/sub"));
  CHECK(code == errc::not_a_directory);
}

task<void> removing(context& place, handle where) {
  co_await place.exec(
      where, "mkdir -p full/a/b empty outside; touch full/f full/a/b/g outside/kept; ln -s ../outside full/link");
  std::error_code code = co_await failure_of(place.remove(where, "full"));
  CHECK(code == errc::conflict);
  co_await place.remove(where, "empty");
  co_await place.remove(where, "full/f");
  co_await place.remove(where, "full", remove_options().recursive());
  code = co_await failure_of(place.remove(where, "full", remove_options().recursive()));
  CHECK(code == errc::not_found);
  const auto list = co_await place.list_files(where, ".", list_options().recursive());
  CHECK(paths_of(list) == "outside outside/kept ");
  co_await place.exec(where, "ln -s outside link");
  co_await place.remove(where, "link", remove_options().recursive());
  const file_info kept = co_await place.stat(where, "outside/kept");
  CHECK(kept.is_regular());
}

task<void> renaming(context& place, handle where) {
  co_await place.exec(where, "printf 1 > a; printf 2 > b; mkdir d full; touch full/x");
  co_await place.rename(where, "a", "b");
  std::string back = co_await place.read_file(where, "b");
  CHECK(back == "1");
  co_await place.rename(where, "b", "d/c");
  co_await place.rename(where, "d", where.cwd() + "/e");
  back = co_await place.read_file(where, "e/c");
  CHECK(back == "1");
  std::error_code code = co_await failure_of(place.rename(where, "none", "x"));
  CHECK(code == errc::not_found);
  code = co_await failure_of(place.rename(where, "e/c", "full"));
  CHECK(code == errc::is_a_directory);
  code = co_await failure_of(place.rename(where, "e", "full"));
  CHECK(code == errc::conflict);
}

constexpr contract_case file_tree_table[] = {
    {"tree: a listing has names, types, sizes, times and modes, as deep as asked", listing},
    {"tree: a listing of what is not there is an error", listing_errors},
    {"tree: a listing goes through no link but the path itself", listing_links},
    {"tree: names with newlines, escapes and bad UTF-8 go through; messages show them safely", odd_names,
     needs::any_bytes},
    {"tree: 100 000 entries are listed and removed", many_entries, 60s},
    {"tree: a cancelled listing ends promptly", cancelled_listing, 30s},
    {"tree: stat tells what each is, links themselves", stat_of_each},
    {"tree: make_directory makes parents and takes what is there", making},
    {"tree: remove takes a full directory only when asked, and no link's target", removing},
    {"tree: rename replaces a file, not a directory", renaming},
};

}  // namespace

std::span<const contract_case> file_tree_cases() { return file_tree_table; }

}  // namespace berth::contract
