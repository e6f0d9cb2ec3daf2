#include "context/resident_file_error.hpp"

#include "core/shown_path.hpp"
#include "os/file_failure.hpp"

#include <string>

namespace berth {
namespace {

using wire::file_reason;

/// A step that failed with an errno; empty for what needs no naming.
const char* step_of(file_reason reason) {
  switch (reason) {
    case file_reason::compare:
      return "compare";
    case file_reason::make_file:
      return "make a file in its directory";
    case file_reason::give_name:
      return "give the file its name";
    case file_reason::temporary_name:
      return "a temporary name";
    case file_reason::directory_above:
      return "a directory above it";
    case file_reason::hard_link:
      return "the file that it is a name of";
    case file_reason::inotify:
      return "inotify";
    default:
      return "";
  }
}

/// What no errno says; `path` is shown already.
error sentence(file_reason reason, const std::string& path) {
  const auto say = [](errc code, std::string words) { return error(make_error_code(code), std::move(words)); };
  switch (reason) {
    case file_reason::not_regular:
      return say(errc::unsupported, "not a regular file");
    case file_reason::gone:
      return say(errc::conflict, "it is not there any more");
    case file_reason::changed:
      return say(errc::conflict, "its content is not the expected one");
    case file_reason::locked:
      return say(errc::conflict, "another program keeps the file locked");
    case file_reason::other_file_system:
      return say(errc::unsupported, "from one file system to another");
    case file_reason::shorter:
      return say(errc::conflict, path + " became shorter while it was read");
    case file_reason::no_watches:
      return say(errc::resource_exhausted, "no more watches (fs.inotify.max_user_watches)");
    case file_reason::watch_ended:
      return say(errc::not_found, "what was watched is gone");
    case file_reason::breaks_off:
      return say(errc::protocol, "the tar stream breaks off");
    case file_reason::not_tar:
      return say(errc::protocol, "not a tar stream");
    case file_reason::unknown_tar:
      return say(errc::protocol, "a kind of tar entry that is not known");
    case file_reason::no_name:
      return say(errc::protocol, "an entry without a name");
    case file_reason::absolute:
      return say(errc::protocol, path + " is absolute");
    case file_reason::leads_out:
      return say(errc::protocol, path + " leads out of the directory");
    case file_reason::link_leads_out:
      return say(errc::protocol, path + ": the file that it is a name of leads out of the directory");
    case file_reason::no_target:
      return say(errc::protocol, path + ": a link without a target");
    case file_reason::input_ended:
      return say(errc::lost, "what was to be written broke off");
    default:
      return say(errc::protocol, "the resident did not understand what was asked");
  }
}

}  // namespace

error resident_file_error(const wire::file_failure_fields& failure) {
  const std::string path = failure.path.empty() ? std::string() : shown_path(failure.path);
  if (failure.reason > file_reason::inotify) return sentence(failure.reason, path);
  const error plain = file_failure(static_cast<int>(failure.error), step_of(failure.reason));
  return path.empty() ? plain : plain.within(path);
}

}  // namespace berth
