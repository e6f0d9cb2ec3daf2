/// Reading and writing one file.
#include "contract/contract.hpp"
#include "contract/file_sources.hpp"

#include "support/skipping.hpp"

#include <fstream>
#include <vector>

namespace berth::contract {
namespace {

constexpr std::size_t three_mebibytes = std::size_t{3} << 20;

std::string pattern(std::size_t size) {
  std::string bytes(size, '\0');
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(i % 251);
  return bytes;
}

/// Code and message of what the work throws.
template <class T>
task<std::shared_ptr<const error>> error_of(task<T> work) {
  try {
    (void)co_await std::move(work);
  } catch (const error& caught) {
    co_return std::make_shared<const error>(caught);
  }
  co_return std::make_shared<const error>(std::error_code(), "no error");
}

task<std::shared_ptr<const error>> error_of(task<void> work) {
  try {
    co_await std::move(work);
  } catch (const error& caught) {
    co_return std::make_shared<const error>(caught);
  }
  co_return std::make_shared<const error>(std::error_code(), "no error");
}

task<void> written_and_read(context& place, handle where) {
  std::string all;
  for (int value = 0; value < 256; ++value) all.push_back(static_cast<char>(value));
  for (const std::string& bytes : {std::string(), std::string("x"), all, pattern(three_mebibytes)}) {
    co_await place.write_file(where, "f", bytes);
    const std::string back = co_await place.read_file(where, "f");
    CHECK(back == bytes);
  }
  const exec_result seen = co_await place.exec(where, "wc -c < f");
  CHECK(seen.std_out == std::to_string(three_mebibytes) + "\n");
}

task<void> relative_to_cwd(context& place, handle where) {
  co_await place.write_file(where, "a", "1");
  const exec_result seen = co_await place.exec(where, "cat \"$PWD/a\"; mkdir sub; printf 2 > sub/b");
  CHECK(seen.std_out == "1");
  std::string back = co_await place.read_file(where, "sub/b");
  CHECK(back == "2");
  back = co_await place.read_file(where, where.cwd() + "/sub/../sub/./b");
  CHECK(back == "2");
}

task<void> ranges(context& place, handle where) {
  const std::string bytes = pattern(three_mebibytes);
  co_await place.write_file(where, "f", bytes);
  std::string part = co_await place.read_file(where, "f", read_options().offset(1'000'001).limit(7));
  CHECK(part == bytes.substr(1'000'001, 7));
  part = co_await place.read_file(where, "f", read_options().offset(three_mebibytes - 3).limit(100));
  CHECK(part == bytes.substr(three_mebibytes - 3));
  part = co_await place.read_file(where, "f", read_options().offset(three_mebibytes));
  CHECK(part.empty());
  part = co_await place.read_file(where, "f", read_options().offset(~std::uint64_t{0}));
  CHECK(part.empty());
  part = co_await place.read_file(where, "f", read_options().limit(0));
  CHECK(part.empty());
  part = co_await place.read_file(where, "f", read_options().limit(1'000'000));
  CHECK(part == bytes.substr(0, 1'000'000));
}

task<void> streamed_read(context& place, handle where) {
  const std::string bytes = pattern(three_mebibytes);
  co_await place.write_file(where, "f", bytes);
  auto stream = co_await place.open_file(where, "f");
  // What was opened is read to its end, whatever happens to the name.
  co_await place.write_file(where, "f", "new");
  const std::string back = co_await drain(std::move(stream));
  CHECK(back == bytes);
  stream = co_await place.open_file(where, "f", read_options().offset(1));
  std::string piece = co_await stream->next();
  CHECK(piece == "ew");
  piece = co_await stream->next();
  CHECK(piece.empty());
  piece = co_await stream->next();
  CHECK(piece.empty());
}

task<void> streamed_write(context& place, handle where) {
  const memory_rise rise;
  constexpr std::uint64_t size = std::uint64_t{64} << 20;
  co_await place.write_file(where, "f", std::make_unique<pattern_source>(size));
  const file_info info = co_await place.stat(where, "f");
  CHECK(info.size() == size);
  auto stream = co_await place.open_file(where, "f");
  std::uint64_t at = 0;
  bool right = true;
  for (;;) {
    const std::string piece = co_await stream->next();
    if (piece.empty()) break;
    right = right && is_pattern(piece, at);
    at += piece.size();
  }
  CHECK(right);
  CHECK(at == size);
  const bool low = rise.stays_below(std::size_t{24} << 20);
  CHECK(low);
}

task<void> failing_producer(context& place, handle where) {
  co_await place.write_file(where, "f", "old");
  auto source = std::make_unique<failing_source>(std::make_unique<pattern_source>(three_mebibytes));
  bool threw = false;
  try {
    co_await place.write_file(where, "f", std::move(source));
  } catch (const std::runtime_error& failure) {
    threw = std::string(failure.what()) == "the producer failed";
  }
  CHECK(threw);
  const std::string back = co_await place.read_file(where, "f");
  CHECK(back == "old");
  const exec_result left = co_await place.exec(where, "ls -A");
  CHECK(left.std_out == "f\n");
}

task<int> write_from(context& place, handle where, std::unique_ptr<byte_source> bytes) {
  co_await place.write_file(where, "f", std::move(bytes));
  co_return 0;
}

task<void> cancelled_write(context& place, handle where) {
  co_await place.write_file(where, "f", "old");
  auto source = std::make_unique<stuck_source>(place.get_executor(), pattern(three_mebibytes));
  running<int> writing(place.get_executor(), write_from(place, where, std::move(source)));
  co_await pause_for(100ms);
  CHECK_FALSE(writing.ended());
  const stopwatch clock;
  writing.cancel();
  const std::error_code code = co_await failure_of(writing.result());
  CHECK(is_cancelled(code));
  CHECK(clock.elapsed() < 1s);
  const std::string back = co_await place.read_file(where, "f");
  CHECK(back == "old");
  const exec_result left = co_await place.exec(where, "ls -A");
  CHECK(left.std_out == "f\n");
}

task<void> mode_is_kept(context& place, handle where) {
  const exec_result made = co_await place.exec(where, "printf old > f && chmod 750 f; umask");
  co_await place.write_file(where, "f", "new");
  file_info info = co_await place.stat(where, "f");
  CHECK(info.mode() == 0750);
  co_await place.write_file(where, "f", "newer", write_options().mode(0604));
  info = co_await place.stat(where, "f");
  CHECK(info.mode() == 0604);
  co_await place.write_file(where, "g", "", write_options().mode(0700));
  info = co_await place.stat(where, "g");
  CHECK(info.mode() == 0700);
  co_await place.write_file(where, "h", "");
  info = co_await place.stat(where, "h");
  const auto mask = static_cast<unsigned>(std::stoul(made.std_out, nullptr, 8));
  CHECK(info.mode() == (0666 & ~mask));
  const std::error_code code = co_await failure_of(place.write_file(where, "h", "", write_options().mode(04755)));
  CHECK(code == errc::invalid_argument);
}

task<void> parents(context& place, handle where) {
  co_await place.write_file(where, "a/b/c/f", "1");
  const std::string back = co_await place.read_file(where, "a/b/c/f");
  CHECK(back == "1");
  const std::error_code code =
      co_await failure_of(place.write_file(where, "x/f", "", write_options().make_parents(false)));
  CHECK(code == errc::not_found);
  const exec_result left = co_await place.exec(where, "ls -A");
  CHECK(left.std_out == "a\n");
}

task<void> expected_hash(context& place, handle where) {
  co_await place.write_file(where, "f", "old");
  co_await place.write_file(where, "f", "new", write_options().expect_hash(content_hash("old")));
  const auto failure =
      co_await error_of(place.write_file(where, "f", "newer", write_options().expect_hash(content_hash("old"))));
  CHECK(failure->code() == errc::conflict);
  CHECK(failure->message().find("'f'") != std::string::npos);
  std::string back = co_await place.read_file(where, "f");
  CHECK(back == "new");
  std::error_code code =
      co_await failure_of(place.write_file(where, "none", "x", write_options().expect_hash(content_hash(""))));
  CHECK(code == errc::conflict);
  code = co_await failure_of(place.write_file(where, "f", "x", write_options().expect_absent()));
  CHECK(code == errc::already_exists);
  co_await place.write_file(where, "g", "x", write_options().expect_absent());
  back = co_await place.read_file(where, "g");
  CHECK(back == "x");
}

task<int> add_line(context& place, handle where, int number) {
  int conflicts = 0;
  for (;;) {
    std::string bytes = co_await place.read_file(where, "f");
    const auto hash = content_hash(bytes);
    bytes += std::to_string(number) + "\n";
    const std::error_code code =
        co_await failure_of(place.write_file(where, "f", bytes, write_options().expect_hash(hash)));
    if (!code) co_return conflicts;
    if (code != errc::conflict) throw std::system_error(code);
    ++conflicts;
  }
}

task<void> hash_race(context& place, handle where) {
  co_await place.write_file(where, "f", "");
  std::vector<running<int>> writers;
  for (int i = 0; i < 20; ++i) writers.emplace_back(place.get_executor(), add_line(place, where, i));
  for (auto& each : writers) co_await each.result();
  const exec_result lines = co_await place.exec(where, "sort -n f | tr '\\n' ' '");
  CHECK(lines.std_out == "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 ");
}

task<int> claim(context& place, handle where) {
  const std::error_code code =
      co_await failure_of(place.write_file(where, "lock", "x", write_options().expect_absent()));
  if (code && code != errc::already_exists) throw std::system_error(code);
  co_return code ? 0 : 1;
}

task<void> absent_race(context& place, handle where) {
  std::vector<running<int>> writers;
  for (int i = 0; i < 20; ++i) writers.emplace_back(place.get_executor(), claim(place, where));
  int winners = 0;
  for (auto& each : writers) {
    const int won = co_await each.result();
    winners += won;
  }
  CHECK(winners == 1);
}

task<int> write_letter(context& place, handle where, char letter) {
  for (int i = 0; i < 10; ++i) co_await place.write_file(where, "f", std::string(200'000, letter));
  co_return 0;
}

task<void> parallel_writers(context& place, handle where) {
  co_await place.write_file(where, "f", std::string(200'000, 'a'));
  std::vector<running<int>> writers;
  for (const char letter : {'a', 'b', 'c', 'd'})
    writers.emplace_back(place.get_executor(), write_letter(place, where, letter));
  bool whole = true;
  for (int i = 0; i < 40; ++i) {
    const std::string bytes = co_await place.read_file(where, "f");
    whole = whole && bytes.size() == 200'000 && bytes.find_first_not_of(bytes[0]) == std::string::npos;
  }
  CHECK(whole);
  for (auto& each : writers) co_await each.result();
  const exec_result left = co_await place.exec(where, "ls -A");
  CHECK(left.std_out == "f\n");
}

task<void> through_links(context& place, handle where) {
  co_await place.exec(where,
                      "mkdir d; printf old > d/f; ln -s d/f link; ln -s \"$PWD/d\" dir; ln -s d/none new; ln f2 f3");
  co_await place.write_file(where, "link", "new");
  std::string back = co_await place.read_file(where, "d/f");
  CHECK(back == "new");
  const file_info info = co_await place.stat(where, "link");
  CHECK(info.type() == file_type::symlink);
  CHECK(info.link_target() == "d/f");
  co_await place.write_file(where, "dir/f", "newer");
  back = co_await place.read_file(where, "link");
  CHECK(back == "newer");
  co_await place.write_file(where, "new", "made");
  back = co_await place.read_file(where, "d/none");
  CHECK(back == "made");
  co_await place.exec(where, "ln -s loop loop");
  std::error_code code = co_await failure_of(place.write_file(where, "loop", "x"));
  CHECK(code == errc::invalid_argument);
  code = co_await failure_of(place.read_file(where, "loop"));
  CHECK(code == errc::invalid_argument);
}

task<void> hard_links_break(context& place, handle where) {
  co_await place.exec(where, "printf old > a; ln a b");
  co_await place.write_file(where, "a", "new");
  const std::string other = co_await place.read_file(where, "b");
  CHECK(other == "old");
}

task<void> not_regular(context& place, handle where) {
  co_await place.exec(where, "mkdir d; mkfifo p");
  std::error_code code = co_await failure_of(place.write_file(where, "d", "x"));
  CHECK(code == errc::is_a_directory);
  code = co_await failure_of(place.write_file(where, "new/", "x"));
  CHECK(code == errc::is_a_directory);
  code = co_await failure_of(place.read_file(where, "d"));
  CHECK(code == errc::is_a_directory);
  code = co_await failure_of(place.write_file(where, "p", "x"));
  CHECK(code == errc::unsupported);
  code = co_await failure_of(place.read_file(where, "p"));
  CHECK(code == errc::unsupported);
  code = co_await failure_of(place.write_file(where, "/dev/null", "x"));
  CHECK(code == errc::unsupported);
}

task<void> bad_paths(context& place, handle where) {
  co_await place.write_file(where, "f", "x");
  const auto missing = co_await error_of(place.read_file(where, "no/such"));
  CHECK(missing->code() == errc::not_found);
  CHECK(missing->message().find("read_file 'no/such'") == 0);
  std::error_code code = co_await failure_of(place.read_file(where, "f/x"));
  CHECK(code == errc::not_a_directory);
  code = co_await failure_of(place.read_file(where, "f/"));
  CHECK(code == errc::not_a_directory);
  code = co_await failure_of(place.write_file(where, "f/x", "y"));
  CHECK(code == errc::not_a_directory);
  code = co_await failure_of(place.read_file(where, ""));
  CHECK(code == errc::invalid_argument);
  code = co_await failure_of(place.read_file(where, std::string("a\0b", 3)));
  CHECK(code == errc::invalid_argument);
  code = co_await failure_of(place.write_file(where, std::string(300, 'n'), "x"));
  CHECK(code == errc::invalid_argument);
}

task<void> no_permission(context& place, handle where) {
  co_await place.exec(where, "printf old > f; chmod 400 f; mkdir d; printf x > d/f; chmod 555 d; touch g; chmod 0 g");
  const exec_result user = co_await place.exec(where, "id -u");
  if (user.std_out == "0\n") {
    skip("commands are root's, to whom nothing is refused; tests/os looks at this as another user");
    co_return;
  }
  std::error_code code = co_await failure_of(place.write_file(where, "f", "new"));
  CHECK(code == errc::permission_denied);
  code = co_await failure_of(place.write_file(where, "d/f", "new"));
  CHECK(code == errc::permission_denied);
  code = co_await failure_of(place.read_file(where, "g"));
  CHECK(code == errc::permission_denied);
  co_await place.exec(where, "chmod 755 d");
}

task<void> huge(context& place, handle where) {
  constexpr std::uint64_t four_gibibytes = std::uint64_t{4} << 30;
  const exec_result made = co_await place.exec(where, "truncate -s 4G f && printf end >> f");
  if (!made.ok()) {
    skip("no file of 4 GiB can be made here: " + made.std_err);
    co_return;
  }
  const file_info info = co_await place.stat(where, "f");
  CHECK(info.size() == four_gibibytes + 3);
  const std::string end = co_await place.read_file(where, "f", read_options().offset(four_gibibytes - 1));
  CHECK(end == std::string("\0end", 4));
}

task<void> destroyed(context& place, handle where) {
  co_await place.destroy(where);
  const std::error_code code = co_await failure_of(place.read_file(where, "f"));
  CHECK(code == errc::destroyed);
}

constexpr contract_case file_table[] = {
    {"file: what was written is read, whatever the bytes", written_and_read},
    {"file: relative paths start at the handle's cwd", relative_to_cwd},
    {"file: ranges are exact, and empty behind the end", ranges},
    {"file: a streamed read sees one file to its end", streamed_read},
    {"file: 64 MiB from a producer and back in bounded memory", streamed_write, 60s, needs::streamed_files},
    {"file: a producer that throws leaves the old file", failing_producer},
    {"file: a cancelled write ends promptly and leaves the old file", cancelled_write},
    {"file: a write keeps the mode, or sets the one asked for", mode_is_kept},
    {"file: a write makes missing parents, unless told not to", parents},
    {"file: a write is refused where the content is not the expected one", expected_hash, needs::guarded_writes},
    {"file: of 20 writers who expect the same nobody loses a line", hash_race, 30s, needs::guarded_writes},
    {"file: of 20 writers who expect no file one wins", absent_race, needs::guarded_writes},
    {"file: parallel writers never show a mixture and leave nothing", parallel_writers, 30s},
    {"file: links are followed and stay links", through_links},
    {"file: a write breaks hard links", hard_links_break},
    {"file: directories, fifos and devices are refused", not_regular},
    {"file: a bad path is one clear error", bad_paths},
    {"file: what may not be written stays", no_permission},
    {"file: bytes beyond 4 GiB are found", huge, needs::streamed_files},
    {"file: a destroyed handle has no files", destroyed},
};

}  // namespace

std::span<const contract_case> file_cases() { return file_table; }

}  // namespace berth::contract
