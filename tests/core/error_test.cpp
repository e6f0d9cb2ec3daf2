#include "berth/error.hpp"

#include "core/logger.hpp"
#include "core/syscall.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <asio/error.hpp>

#include <cerrno>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

using namespace berth;

TEST_CASE("errc: every code has a meaning of its own") {
  std::set<std::string> meanings;
  const int last = static_cast<int>(errc::internal);
  for (int value = 1; value <= last; ++value) meanings.insert(berth_category().message(value));
  CHECK(meanings.size() == static_cast<std::size_t>(last));
  CHECK(meanings.count("unknown error") == 0);
  CHECK(berth_category().message(last + 1) == "unknown error");
  CHECK(berth_category().message(0) == "unknown error");
}

TEST_CASE("errc: equals its counterpart in std::errc") {
  CHECK(make_error_code(errc::not_found) == std::errc::no_such_file_or_directory);
  CHECK(make_error_code(errc::cancelled) == std::errc::operation_canceled);
  CHECK(make_error_code(errc::lost) != std::errc::connection_reset);
}

TEST_CASE("error: says our message and the meaning, and keeps the remote text apart") {
  const error thrown(errc::unavailable, "docker: create container", "remote says <b>no</b>");
  CHECK(std::string(thrown.what()) == "docker: create container: not available now");
  CHECK(thrown.message() == "docker: create container");
  CHECK(thrown.remote() == "remote says <b>no</b>");
  CHECK(thrown.code() == errc::unavailable);
}

TEST_CASE("error: remote text is cut at a character") {
  std::string remote(error::remote_limit - 1, 'x');
  remote += "\u20ac";
  CHECK(error(errc::protocol, "m", remote).remote() == std::string(error::remote_limit - 1, 'x'));
}

TEST_CASE("error: context goes before the message") {
  const auto wider = error(errc::not_found, "open a", "r").within("read file");
  CHECK(wider.message() == "read file: open a");
  CHECK(wider.remote() == "r");
  CHECK(wider.code() == errc::not_found);
}

TEST_CASE("is_transient: the same may succeed later") {
  for (const auto code : {errc::timeout, errc::unavailable, errc::rate_limited}) CHECK(is_transient(code));
  for (const auto code : {errc::lost, errc::not_found, errc::cancelled, errc::protocol})
    CHECK_FALSE(is_transient(code));
  CHECK(is_transient(std::error_code(ECONNREFUSED, std::system_category())));
  CHECK(is_transient(asio::error::connection_reset));
  CHECK(is_transient(asio::error::eof));
  CHECK_FALSE(is_transient(asio::error::operation_aborted));
  CHECK_FALSE(is_transient(std::error_code(ENOENT, std::generic_category())));
  CHECK_FALSE(is_transient(std::error_code()));
}

TEST_CASE("is_fatal: an orderly refusal leaves the connection usable") {
  for (const auto code : {errc::not_found, errc::unauthorized, errc::rate_limited, errc::conflict})
    CHECK_FALSE(is_fatal(code));
  for (const auto code : {errc::lost, errc::protocol, errc::timeout, errc::cancelled}) CHECK(is_fatal(code));
  CHECK(is_fatal(asio::error::eof));
  CHECK(is_fatal(asio::error::operation_aborted));
  CHECK_FALSE(is_fatal(std::error_code()));
}

TEST_CASE("is_cancelled: knows the code of Asio, of the system and ours") {
  CHECK(is_cancelled(asio::error::operation_aborted));
  CHECK(is_cancelled(errc::cancelled));
  CHECK(is_cancelled(std::make_error_code(std::errc::operation_canceled)));
  CHECK_FALSE(is_cancelled(errc::timeout));
  CHECK_FALSE(is_cancelled(std::error_code()));
}

TEST_CASE("check_syscall: gives results back and throws errno with the phrase") {
  CHECK(check_syscall(7, "x") == 7);
  std::string what;
  std::error_code code;
  try {
    check_syscall(::open("/nonexistent/file", O_RDONLY), "open");
  } catch (const error& caught) {
    what = caught.what();
    code = caught.code();
  }
  CHECK(code == std::errc::no_such_file_or_directory);
  CHECK(what.starts_with("open: "));
}

TEST_CASE("logger: is silent by default and passes lines to its hook") {
  const logger silent;
  silent.error("nobody hears");
  CHECK_FALSE(silent);
  std::vector<std::string> lines;
  const logger log([&](log_level level, std::string_view line) {
    lines.push_back(std::string(to_string(level)) += ":" + std::string(line));
  });
  CHECK(log);
  log.debug("a");
  log.warning("b");
  CHECK(lines == std::vector<std::string>{"debug:a", "warning:b"});
}

TEST_CASE("logger: what the hook throws is ignored") {
  const logger log([](log_level, std::string_view) { throw std::runtime_error("full disk"); });
  log.info("x");
}
