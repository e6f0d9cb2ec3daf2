#pragma once
/// The request for one command, and what a refused one means to a person: no I/O.

#include "berth/command.hpp"
#include "berth/exit_status.hpp"
#include "os/cgroup_place.hpp"
#include "wire/messages.hpp"

#include <string>
#include <vector>

namespace berth {

/// A command as a start frame.
class start_request {
 public:
  /// `changes` go before the command's own: "NAME=VALUE" sets, "NAME" removes. Limits that the place offers go to a cgroup there.
  start_request(const command& what, const std::vector<std::string>& changes, bool hand_over,
                const cgroup_place* place = nullptr);

  bool has_input() const noexcept { return (flags_ & wire::start_input_pipe) != 0; }
  /// One output stream carries all.
  bool merges() const noexcept { return (flags_ & (wire::start_merge_stderr | wire::start_terminal)) != 0; }
  bool has_terminal() const noexcept { return (flags_ & wire::start_terminal) != 0; }
  /// Descriptors that come with `started`.
  std::size_t fds() const noexcept;
  /// Below which the command gets one of its own; empty: none.
  const std::string& cgroup() const noexcept { return cgroup_; }
  /// May be sent; else failure(wire::start_step::request, E2BIG) is what to say.
  bool fits() const noexcept { return payload_.size() <= wire::max_payload; }
  /// Once: the payload moves into it.
  std::string frame(std::uint32_t id);

  exit_status failure(wire::start_failed why) const;
  exit_status failure(wire::start_step step, int error) const {
    return failure({step, static_cast<std::uint32_t>(error)});
  }

 private:
  std::string limit_refused(std::uint32_t kind, int error) const;

  std::uint32_t flags_ = 0;
  std::string payload_;
  std::string program_;
  std::string cwd_;
  std::string cgroup_;
  resource_limits limits_;
  std::size_t words_size_ = 0;
};

}  // namespace berth
