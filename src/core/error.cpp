#include "berth/error.hpp"

#include "core/text.hpp"

#include <asio/error.hpp>

#include <cerrno>
#include <utility>

namespace berth {
namespace {

const char* meaning(errc code) noexcept {
  switch (code) {
    case errc::invalid_argument:
      return "invalid argument";
    case errc::not_found:
      return "not found";
    case errc::permission_denied:
      return "permission denied";
    case errc::already_exists:
      return "already exists";
    case errc::not_a_directory:
      return "not a directory";
    case errc::is_a_directory:
      return "is a directory";
    case errc::timeout:
      return "timed out";
    case errc::cancelled:
      return "cancelled";
    case errc::start_failed:
      return "could not be started";
    case errc::lost:
      return "connection to the place was lost";
    case errc::unavailable:
      return "not available now";
    case errc::unsupported:
      return "not supported";
    case errc::protocol:
      return "protocol violated";
    case errc::limit_exceeded:
      return "limit exceeded";
    case errc::resource_exhausted:
      return "out of resources";
    case errc::conflict:
      return "conflicting state";
    case errc::unauthorized:
      return "not authorized";
    case errc::rate_limited:
      return "too many requests";
    case errc::destroyed:
      return "already destroyed";
    case errc::internal:
      return "internal error";
  }
  return "unknown error";
}

std::error_condition counterpart(int value) noexcept {
  switch (static_cast<errc>(value)) {
    case errc::invalid_argument:
      return std::errc::invalid_argument;
    case errc::not_found:
      return std::errc::no_such_file_or_directory;
    case errc::permission_denied:
      return std::errc::permission_denied;
    case errc::already_exists:
      return std::errc::file_exists;
    case errc::not_a_directory:
      return std::errc::not_a_directory;
    case errc::is_a_directory:
      return std::errc::is_a_directory;
    case errc::timeout:
      return std::errc::timed_out;
    case errc::cancelled:
      return std::errc::operation_canceled;
    case errc::unsupported:
      return std::errc::not_supported;
    case errc::protocol:
      return std::errc::protocol_error;
    default:
      return std::error_condition(value, berth_category());
  }
}

class category final : public std::error_category {
 public:
  const char* name() const noexcept override { return "berth"; }
  std::string message(int value) const override { return meaning(static_cast<errc>(value)); }
  std::error_condition default_error_condition(int value) const noexcept override { return counterpart(value); }
};

// Asio has a system category of its own; the values are errno all the same.
bool is_system(std::error_code code) noexcept {
  const auto& category = code.category();
  return category == std::system_category() || category == std::generic_category() ||
         category == asio::error::get_system_category();
}

bool is_transient_errno(int value) noexcept {
  switch (value) {
    case EAGAIN:
    case EINTR:
    case EBUSY:
    case EPIPE:
    case ETIMEDOUT:
    case ECONNREFUSED:
    case ECONNRESET:
    case ECONNABORTED:
    case EHOSTUNREACH:
    case ENETUNREACH:
    case ENETDOWN:
    case ENETRESET:
      return true;
    default:
      return false;
  }
}

std::string cut(std::string text) {
  if (text.size() > error::remote_limit) text.resize(utf8_floor(text, error::remote_limit));
  return text;
}

}  // namespace

const std::error_category& berth_category() noexcept {
  static const category instance;
  return instance;
}

std::error_code make_error_code(errc code) noexcept { return {static_cast<int>(code), berth_category()}; }

// Shared, so that copying the exception cannot throw.
struct error::texts {
  std::string message;
  std::string remote;
};

error::error(std::error_code code, std::string message, std::string remote)
    : error(code, std::make_shared<const texts>(texts{std::move(message), cut(std::move(remote))})) {}

error::error(std::error_code code, std::shared_ptr<const texts> both)
    : std::system_error(both->message.empty() ? std::system_error(code) : std::system_error(code, both->message)),
      texts_(std::move(both)) {}

const std::string& error::message() const noexcept { return texts_->message; }

const std::string& error::remote() const noexcept { return texts_->remote; }

error error::within(std::string_view phrase) const {
  std::string longer(phrase);
  if (!message().empty()) longer += ": " + message();
  return {code(), std::move(longer), remote()};
}

bool is_transient(std::error_code code) noexcept {
  if (is_system(code)) return is_transient_errno(code.value());
  if (code == asio::error::eof || code == asio::error::host_not_found_try_again) return true;
  if (code.category() != berth_category()) return false;
  switch (static_cast<errc>(code.value())) {
    case errc::timeout:
    case errc::unavailable:
    case errc::rate_limited:
      return true;
    default:
      return false;
  }
}

bool is_fatal(std::error_code code) noexcept {
  if (!code) return false;
  if (code.category() != berth_category()) return true;
  switch (static_cast<errc>(code.value())) {
    case errc::timeout:
    case errc::cancelled:
    case errc::lost:
    case errc::protocol:
    case errc::destroyed:
    case errc::internal:
      return true;
    default:
      return false;
  }
}

bool is_cancelled(std::error_code code) noexcept {
  return code == errc::cancelled || (is_system(code) && code.value() == ECANCELED);
}

}  // namespace berth
