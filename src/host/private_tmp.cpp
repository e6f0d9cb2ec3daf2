#include "host/private_tmp.hpp"

#include "berth/error.hpp"
#include "core/paths.hpp"
#include "core/shown_path.hpp"
#include "os/directory_walk.hpp"
#include "os/without_capabilities.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string_view>
#include <system_error>
#include <utility>

#include <dirent.h>

namespace berth {
namespace {

namespace fs = std::filesystem;
using clock = std::chrono::steady_clock;

constexpr std::string_view prefix = "berth-tmp-";
constexpr int opening_flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
constexpr mode_t all_mode_bits = 07777;
constexpr int most_abandoned = 16;
constexpr auto longest_cleaning = std::chrono::seconds(2);

/// On which mount a name lies: its number, which Linux knows since 5.8, else its device.
struct lying_on {
  std::uint64_t mount = 0;
  std::uint32_t major = 0, minor = 0;

  lying_on(int directory, const char* name) {
    struct statx about {};
    if (::statx(directory, name, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, STATX_MNT_ID, &about) != 0) return;
    if ((about.stx_mask & STATX_MNT_ID) != 0) {
      mount = about.stx_mnt_id;
    } else {
      major = about.stx_dev_major;
      minor = about.stx_dev_minor;
    }
  }
  bool operator==(const lying_on&) const = default;
};

/// Opens what a command closed to its owner.
void let_in(int directory, const std::string& name) {
  const unique_fd seen(::openat(directory, name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  const std::string through = "/proc/self/fd/" + std::to_string(seen.get());
  if (seen) ::chmod(through.c_str(), S_IRWXU);
}

/// Removes what it passes, and opens what a command closed to its owner. Never through a link, and on one mount.
class emptying final : public directory_walk {
 public:
  emptying(unique_fd top, lying_on where) : directory_walk(std::move(top)), where_(where) {}

  void finished(int parent, const std::string& name, const std::string& /*path*/, int /*itself*/) override {
    ::unlinkat(parent, name.c_str(), AT_REMOVEDIR);
  }

  void run(clock::time_point until) {
    while (const walked_entry* const entry = next()) {
      if (S_ISDIR(entry->status.st_mode)) {
        go_into(*entry);
      } else {
        ::unlinkat(entry->directory, entry->name.c_str(), 0);
      }
      if (clock::now() >= until) return;
    }
  }

 private:
  void go_into(const walked_entry& entry) {
    if (lying_on(entry.directory, entry.name.c_str()) != where_) return;
    if ((entry.status.st_mode & S_IRWXU) != S_IRWXU) let_in(entry.directory, entry.name);
    try {
      enter();
    } catch (const error&) {
      return;  // what cannot be removed stays
    }
  }

  lying_on where_;
};

/// A command of another sandbox, whose root holds the place, may have moved things here that it cannot remove. So this removes
/// no more than a command could: on one mount, and without capabilities.
void empty(int directory, clock::time_point until) noexcept {
  try {
    const without_capabilities as_a_command;
    if (!as_a_command.holds()) return;
    unique_fd again(::openat(directory, ".", opening_flags));
    if (again) emptying(std::move(again), lying_on(directory, ".")).run(until);
  } catch (const std::exception&) {
    return;  // what cannot be removed stays
  }
}

/// None if it is not ours, or in use.
unique_fd locked_if_abandoned(int above, const std::string& name) {
  const auto is_ours = [](const struct stat& about) { return S_ISDIR(about.st_mode) && about.st_uid == ::geteuid(); };
  struct stat found {};
  if (::fstatat(above, name.c_str(), &found, AT_SYMLINK_NOFOLLOW) != 0 || !is_ours(found)) return unique_fd();
  if ((found.st_mode & S_IRWXU) != S_IRWXU) {
    const without_capabilities as_a_command;  // by now the name may be that of another's
    if (as_a_command.holds()) let_in(above, name);
  }
  unique_fd opened(::openat(above, name.c_str(), opening_flags));
  const bool free =
      opened && ::fstat(opened.get(), &found) == 0 && is_ours(found) && ::flock(opened.get(), LOCK_EX | LOCK_NB) == 0;
  return free ? std::move(opened) : unique_fd();
}

/// What owners that were killed left.
void remove_abandoned(const std::string& place) noexcept {
  const std::unique_ptr<DIR, int (*)(DIR*)> listing(::opendir(place.c_str()), ::closedir);
  if (!listing) return;
  const int above = ::dirfd(listing.get());
  const auto until = clock::now() + longest_cleaning;
  int removed = 0;
  while (const dirent* const entry = ::readdir(listing.get())) {
    if (removed == most_abandoned || clock::now() >= until) return;
    const std::string name = entry->d_name;
    if (!name.starts_with(prefix)) continue;
    const unique_fd found = locked_if_abandoned(above, name);
    if (!found) continue;
    empty(found.get(), until);
    ::unlinkat(above, name.c_str(), AT_REMOVEDIR);
    ++removed;
  }
}

bool can_hold(const std::string& place, const tmp_surroundings& around) {
  const bool is_hidden = directory_of(place, around.hidden) != nullptr;
  const auto exposes = [&](const std::string& root) {
    return is_at_or_below(place, root) && !(root == "/" && is_hidden);
  };
  return std::none_of(around.writable.begin(), around.writable.end(), exposes);
}

std::vector<std::string> usual_places() {
  const char* const named = std::getenv("TMPDIR");
  std::vector<std::string> all;
  for (const char* each : {named, "/tmp", "/var/tmp", "/dev/shm"}) {
    std::error_code code;
    if (each == nullptr || *each != '/') continue;
    const fs::path real = fs::canonical(each, code);
    if (!code && fs::is_directory(real, code)) all.push_back(real.string());
  }
  return all;
}

}  // namespace

private_tmp::private_tmp(const tmp_surroundings& around) : owner_(::getpid()) {
  std::string why = "every place for it can be written by commands";
  for (const std::string& place : usual_places()) {
    if (!can_hold(place, around)) continue;
    remove_abandoned(place);
    if (make_below(place)) return;
    why = shown_path(place) + ": " + std::system_category().message(errno);
  }
  throw error(make_error_code(errc::unavailable), "isolation: private /tmp: " + why);
}

bool private_tmp::make_below(const std::string& place) {
  constexpr int most_tries = 8;
  for (int tries = 0; tries < most_tries; ++tries) {
    path_ = place + "/" + std::string(prefix) + "XXXXXX";
    if (::mkdtemp(path_.data()) == nullptr) return false;
    directory_.reset(::open(path_.c_str(), opening_flags));
    // Another may have taken it for an abandoned one before it was locked.
    const bool lost = !directory_ || (::flock(directory_.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK);
    if (!lost && stands()) return true;
  }
  directory_.reset();
  return false;
}

bool private_tmp::stands() const noexcept {
  struct stat ours {
  }, named{};
  return ::fstat(directory_.get(), &ours) == 0 && ::lstat(path_.c_str(), &named) == 0 && ours.st_dev == named.st_dev &&
         ours.st_ino == named.st_ino;
}

void private_tmp::let_in() const noexcept {
  struct stat found {};
  if (::fstat(directory_.get(), &found) != 0 || (found.st_mode & S_IRWXU) == S_IRWXU) return;
  ::fchmod(directory_.get(), (found.st_mode & all_mode_bits) | S_IRWXU);
}

void private_tmp::remove() noexcept {
  if (!directory_ || owner_ != ::getpid()) return;
  let_in();
  empty(directory_.get(), clock::time_point::max());
  if (stands()) ::rmdir(path_.c_str());
  directory_.reset();
}

}  // namespace berth
