#pragma once
// Errors: one enum, one category, one exception type.

#include <berth/api.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>

namespace berth {

/// What can go wrong in a way that a caller may react to.
///
/// Codes of the operating system and of Asio are not translated: they pass in their own category.
/// Those of ours with a counterpart in `std::errc` compare equal to it.
enum class errc {
  /// An argument or option makes no sense; the message names it.
  invalid_argument = 1,
  /// The thing asked for is not there.
  not_found,
  /// It is there, and we may not.
  permission_denied,
  /// It is there already.
  already_exists,
  /// A component of the path is not a directory.
  not_a_directory,
  /// The path is a directory, and something else was wanted.
  is_a_directory,
  /// A deadline passed.
  timeout,
  /// Stopped because somebody asked for it.
  cancelled,
  /// A program could not be started; nothing ran.
  start_failed,
  /// The transport to the place is gone; what became of the work is not known.
  lost,
  /// The other side cannot serve now; it may later.
  unavailable,
  /// This backend or platform cannot do it.
  unsupported,
  /// The other side broke its protocol, or data is malformed.
  protocol,
  /// A bound that we or the caller set was passed.
  limit_exceeded,
  /// Out of memory, descriptors, processes or disk.
  resource_exhausted,
  /// The thing changed meanwhile, or its state does not allow it.
  conflict,
  /// Credentials are missing or refused.
  unauthorized,
  /// Too many requests; later is fine.
  rate_limited,
  /// The handle, context or sandbox was destroyed before.
  destroyed,
  /// A bug of ours.
  internal,
};

/// The category of `errc`.
BERTH_API const std::error_category& berth_category() noexcept;

BERTH_API std::error_code make_error_code(errc code) noexcept;

/// The only exception that the library throws on its own account.
///
/// `what()` is our message followed by the meaning of the code. What the other side said is kept apart.
class BERTH_API error : public std::system_error {
 public:
  /// More than this many bytes of remote text are cut off.
  static constexpr std::size_t remote_limit = 4096;

  error(std::error_code code, std::string message, std::string remote = {});

  /// Our message alone, without the meaning of the code.
  const std::string& message() const noexcept;

  /// What the other side said; may be empty. Untrusted: it can hold anything, user input and terminal escapes too.
  const std::string& remote() const noexcept;

  /// The same error with a phrase of context before its message: "phrase: message".
  error within(std::string_view phrase) const;

 private:
  struct texts;
  error(std::error_code code, std::shared_ptr<const texts> both);

  std::shared_ptr<const texts> texts_;
};

/// May the same attempt succeed a little later? Says nothing about whether repeating it is harmless.
BERTH_API bool is_transient(std::error_code code) noexcept;

/// Is the connection on which this came unfit for further use?
///
/// True for all that leaves its state unknown, cancellation and timeouts included; false for an orderly refusal.
BERTH_API bool is_fatal(std::error_code code) noexcept;

/// Does the code mean that somebody cancelled: ours, or the one of Asio and the system?
BERTH_API bool is_cancelled(std::error_code code) noexcept;

}  // namespace berth

template <>
struct std::is_error_code_enum<berth::errc> : std::true_type {};
