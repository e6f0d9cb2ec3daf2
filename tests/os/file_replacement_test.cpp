#include "os/file_replacement.hpp"

#include "os/file_failure.hpp"
#include "support/temp_dir.hpp"

#include <berth/error.hpp>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/fsuid.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>

using namespace berth;
using namespace berth::test;

namespace fs = std::filesystem;

namespace {

void replace(const std::string& path, std::string_view bytes, write_options options = write_options()) {
  file_replacement writing(whole_host, path, std::move(options));
  while (!writing.prepare()) {
  }
  writing.write(bytes);
  writing.commit();
}

std::error_code failure(const std::string& path, std::string_view bytes, write_options options = write_options()) {
  try {
    replace(path, bytes, std::move(options));
  } catch (const error& caught) {
    return caught.code();
  }
  return {};
}

std::size_t names_in(const fs::path& directory) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(directory), fs::directory_iterator()));
}

/// Files are touched as another user for a while. Only root can do that.
class other_user {
 public:
  other_user() { ::setfsuid(65534); }
  other_user(const other_user&) = delete;
  other_user& operator=(const other_user&) = delete;
  ~other_user() { ::setfsuid(0); }
};

class small_disk {
 public:
  explicit small_disk(const temp_dir& at, unsigned long flags = 0) : path(at / "disk") {
    fs::create_directory(path);
    mounted = ::mount("tmpfs", path.c_str(), "tmpfs", flags, "size=1m") == 0;
  }
  small_disk(const small_disk&) = delete;
  small_disk& operator=(const small_disk&) = delete;
  ~small_disk() {
    if (mounted) ::umount2(path.c_str(), MNT_DETACH);
  }

  std::string path;
  bool mounted;
};

bool skipped_without_root(const char* name) {
  if (::geteuid() == 0) return false;
  std::printf("SKIPPED: %s: not root\n", name);
  return true;
}

}  // namespace

TEST_CASE("file replacement: a full disk leaves the old file and nothing else") {
  if (skipped_without_root("full disk")) return;
  const temp_dir at;
  const small_disk disk(at);
  if (!disk.mounted) {
    std::printf("SKIPPED: full disk: mount is refused\n");
    return;
  }
  const std::string path = disk.path + "/f";
  replace(path, "old");
  CHECK(failure(path, std::string(3'000'000, 'x')) == errc::resource_exhausted);
  CHECK(read_whole_file(path) == "old");
  CHECK(names_in(disk.path) == 1);
  CHECK(failure(disk.path + "/new", std::string(3'000'000, 'x')) == errc::resource_exhausted);
  CHECK(names_in(disk.path) == 1);
}

TEST_CASE("file replacement: a read-only file system is one clear error") {
  if (skipped_without_root("read-only file system")) return;
  const temp_dir at;
  const small_disk disk(at);
  if (!disk.mounted) {
    std::printf("SKIPPED: read-only file system: mount is refused\n");
    return;
  }
  replace(disk.path + "/f", "old");
  REQUIRE(::mount("", disk.path.c_str(), "", MS_REMOUNT | MS_RDONLY, "size=1m") == 0);
  CHECK(failure(disk.path + "/f", "new") == errc::permission_denied);
  CHECK(failure(disk.path + "/g", "new") == errc::permission_denied);
  CHECK(read_whole_file(disk.path + "/f") == "old");
}

TEST_CASE("file replacement: what another user may not write is not replaced") {
  if (skipped_without_root("another user")) return;
  const temp_dir at;
  write_whole_file(at / "f", "old");
  fs::permissions(at / "f", static_cast<fs::perms>(0644));
  fs::create_directory(at / "closed");
  write_whole_file(at / "closed/f", "old");
  fs::permissions(at / "closed/f", static_cast<fs::perms>(0666));
  fs::permissions(at / "closed", static_cast<fs::perms>(0755));
  const other_user now;
  CHECK(failure(at / "f", "new") == errc::permission_denied);
  CHECK(failure(at / "closed/f", "new") == errc::permission_denied);
  CHECK(failure(at / "closed/g", "new") == errc::permission_denied);
  CHECK(failure(at / "mine", "new") == std::error_code());
  CHECK(read_whole_file(at / "f") == "old");
  CHECK(read_whole_file(at / "closed/f") == "old");
}

TEST_CASE("file replacement: owner, mode and attributes are kept, set-user-id is not") {
  if (skipped_without_root("owner")) return;
  const temp_dir at;
  const std::string path = at / "f";
  write_whole_file(path, "old");
  REQUIRE(::chown(path.c_str(), 65534, 12) == 0);
  REQUIRE(::chmod(path.c_str(), 04751) == 0);
  const bool has_attributes = ::setxattr(path.c_str(), "user.berth", "kept", 4, 0) == 0;
  replace(path, "new");
  struct stat found {};
  REQUIRE(::stat(path.c_str(), &found) == 0);
  CHECK(found.st_uid == 65534);
  CHECK(found.st_gid == 12);
  CHECK((found.st_mode & 07777) == 0751);
  char value[8] = "";
  if (has_attributes) CHECK(::getxattr(path.c_str(), "user.berth", value, sizeof value) == 4);
}

TEST_CASE("file replacement: a change between the comparison and the end is found") {
  const temp_dir at;
  const std::string path = at / "f";
  write_whole_file(path, "old");
  file_replacement writing(whole_host, path, write_options().expect_hash(content_hash("old")));
  while (!writing.prepare()) {
  }
  writing.write("mine");
  write_whole_file(path, "theirs");
  try {
    writing.commit();
    FAIL_CHECK("it was committed");
  } catch (const error& caught) {
    CHECK(caught.code() == errc::conflict);
  }
  CHECK(read_whole_file(path) == "theirs");
}

TEST_CASE("file replacement: a change of times alone is none") {
  const temp_dir at;
  const std::string path = at / "f";
  write_whole_file(path, "old");
  file_replacement writing(whole_host, path, write_options().expect_hash(content_hash("old")));
  while (!writing.prepare()) {
  }
  writing.write("new");
  REQUIRE(::chmod(path.c_str(), 0600) == 0);
  writing.commit();
  CHECK(read_whole_file(path) == "new");
}

TEST_CASE("file replacement: a file that others keep locked is still replaced, unless its content matters") {
  const temp_dir at;
  const std::string path = at / "f";
  write_whole_file(path, "old");
  const unique_fd other(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  REQUIRE(::flock(other.get(), LOCK_EX) == 0);
  CHECK(failure(path, "new", write_options().expect_hash(content_hash("old"))) == errc::conflict);
  CHECK(failure(path, "new") == std::error_code());
  CHECK(read_whole_file(path) == "new");
}

TEST_CASE("file replacement: a durable one does the same") {
  const temp_dir at;
  replace(at / "f", "1", write_options().durable());
  replace(at / "f", "2", write_options().durable());
  CHECK(read_whole_file(at / "f") == "2");
}

TEST_CASE("fresh file: without nameless files it works through a temporary name, and leaves none") {
  const temp_dir at;
  const unique_fd directory(::open(at.path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  for (const auto kind : {fresh_file::kind::named, fresh_file::kind::nameless}) {
    fresh_file fresh(directory.get(), 0600, kind);
    fresh.write("new");
    const auto name = std::to_string(static_cast<int>(kind));
    CHECK(fresh.publish_new(name));
    CHECK(read_whole_file(at / name) == "new");
    fresh_file again(directory.get(), 0600, kind);
    again.write("again");
    CHECK_FALSE(again.publish_new(name));
    again.publish(name);
    CHECK(read_whole_file(at / name) == "again");
    const fresh_file dropped(directory.get(), 0600, kind);
  }
  CHECK(names_in(at.path()) == 2);
}
