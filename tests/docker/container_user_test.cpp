/// Users of containers: the files that are made for them are theirs, whoever the daemon's host knows.
#include "docker/container_user.hpp"

#include "docker/given_container.hpp"
#include "docker/places.hpp"
#include "support/temp_dir.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <string>

using namespace berth;
using namespace berth::test;

namespace {

constexpr std::string_view passwd =
    "root:x:0:0:root:/root:/bin/sh\nuser:x:1000:1001::/home/user:\nshort:x\n7:x:9:9::/:\n";
constexpr std::string_view groups = "root:x:0:\nstaff:x:50:user\n";

std::optional<container_user> user_in(std::string_view wanted) { return read_container_user(wanted, passwd, groups); }

/// No host has this user.
constexpr const char* stranger = "43210:54321";

}  // namespace

TEST_CASE("container user: as the Engine reads it") {
  CHECK(user_in("") == container_user{0, 0});
  CHECK(user_in("user") == container_user{1000, 1001});
  CHECK(user_in("1000") == container_user{1000, 1001});
  CHECK(user_in("4321") == container_user{4321, 0});
  CHECK(user_in("user:staff") == container_user{1000, 50});
  CHECK(user_in("4321:4322") == container_user{4321, 4322});
  CHECK(user_in("7") == container_user{9, 9});  // a name, though it is one of digits
  for (const char* unknown : {"nobody", "user:none", "short", "-1", "user:-1"}) {
    CAPTURE(unknown);
    CHECK_FALSE(user_in(unknown));
  }
}

ASYNC_TEST("container user: a tar that comes in pieces has another owner, and the same content") {
  std::vector<tar_entry> entries(3);
  entries[0].path = "directory";
  entries[0].is_directory = true;
  entries[1].path = "directory/" + std::string(300, 'n');  // needs a header of its own
  entries[1].content = std::string(1000, 'c');
  entries[2].path = "last";
  entries[2].content = std::string(512, '\0');
  const std::string tar = tar_of(entries);
  for (tar_entry& each : entries) each.user = each.group = 4321;
  const std::string wanted = tar_of(entries);
  CHECK(tar != wanted);
  class in_pieces final : public byte_source {
   public:
    in_pieces(std::string bytes, std::size_t size) : bytes_(std::move(bytes)), size_(size) {}
    task<std::string> next() override {
      std::string piece = bytes_.substr(at_, size_);
      at_ += piece.size();
      return give(std::move(piece));
    }

   private:
    static task<std::string> give(std::string piece) { co_return piece; }
    std::string bytes_;
    std::size_t size_;
    std::size_t at_ = 0;
  };
  for (const std::size_t size : {std::size_t{1}, std::size_t{511}, std::size_t{513}, tar.size()}) {
    const auto owned = tar_owned_by(std::make_unique<in_pieces>(tar, size), {4321, 4321});
    std::string all;
    for (std::string piece = co_await owned->next(); !piece.empty(); piece = co_await owned->next()) all += piece;
    CHECK(all.size() == wanted.size());
    const bool is_it = all == wanted;
    CHECK(is_it);
  }
}

DOCKER_TEST("container user: the default directory belongs to whoever it is") {
  for (const std::string user : {stranger, "user", "1000"}) {
    CAPTURE(user);
    docker_context_options options = small_container(daemon.front().url);
    options.user = user;
    context place = make_place(io, options, true);
    const handle where = co_await place.spawn();
    const exec_result made = co_await place.exec(where, command("touch x && stat -c %u:%g x ."));
    CHECK(made.std_err == "");
    CHECK(made.std_out == (user == stranger ? "43210:54321\n43210:54321\n" : "1000:1000\n1000:1000\n"));
    co_await place.destroy(where);
  }
}

DOCKER_TEST("container user: files that the Engine's archives bring are theirs") {
  const auto engine = co_await docker_engine::connect(io.get_executor(), daemon);
  given_spec spec;
  spec.user = stranger;
  spec.cwd = "/tmp";
  const container box = co_await run_given(engine, spec);
  docker_context place = context_in(io, daemon, box, docker_runner::engine);
  const handle where = co_await place.spawn();
  co_await place.write_file(where, "file", "bytes");
  const temp_dir host;
  std::filesystem::create_directories(host.path() / "up/a");
  write_whole_file(host.path() / "up/a/file", "bytes");
  co_await place.upload(where, (host.path() / "up").string(), "tree");
  const exec_result seen =
      co_await place.exec(where, command("stat -c %u:%g file tree tree/a tree/a/file; cat tree/a/file"));
  CHECK(seen.std_out == "43210:54321\n43210:54321\n43210:54321\n43210:54321\nbytes");
  co_await place.destroy(where);
  co_await box.remove();
}
