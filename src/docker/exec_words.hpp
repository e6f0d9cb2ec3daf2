#pragma once
/// A command as the Engine is told it, and what it says of one that it could not start: no I/O.

#include "berth/command.hpp"
#include "berth/exit_status.hpp"
#include "docker/container_exec.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace berth {

/// `env` goes before the command's own.
exec_request exec_request_of(const command& what, const std::vector<std::string>& env, std::string user);

/// The text comes in place of output, so whether it is one must be known from elsewhere; see `looks_refused`.
exit_status exec_refusal(const command& what, std::string_view text);

/// Where a daemon forgets the pid of what has ended (Podman): is this the text of a runtime, and the code one of its own?
bool looks_refused(int code, std::string_view text) noexcept;

/// What the kernel would refuse, in the words that a resident has for it; `unknown` for what may be asked of the Engine, which reports
/// words that are too long as output of the program.
exit_status refuse_too_long(const command& what);

/// That, and what is not UTF-8, which could only arrive as something else.
exit_status refuse_unsendable(const command& what);

}  // namespace berth
