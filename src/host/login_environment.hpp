#pragma once
/// What the user's login shell makes of an environment.

#include "berth/backend.hpp"
#include "core/blocking.hpp"

#include <asio/any_io_executor.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace berth {

/// Who logs in.
struct login_user {
  std::string shell = {};
  /// HOME, USER, LOGNAME and SHELL, "NAME=VALUE", as far as they are known.
  std::vector<std::string> variables = {};
};

/// Our effective user in the user database. Blocks: that may lie on the network.
login_user current_login_user();

/// One question to a login shell.
struct login_question {
  asio::any_io_executor executor;
  std::shared_ptr<blocking_pool> pool;
  /// Where the shell runs, as any other command.
  std::shared_ptr<backend_place> place;
  std::string cwd;
  /// What commands inherit there, and what is changed for each of them.
  std::vector<std::string> inherited;
  std::vector<std::string> changes;
  std::chrono::milliseconds timeout{10000};
};

/// Gives the changes that make of `inherited` what the shell exports. See process_context_options::login_environment.
///
/// Errors: timeout, and unavailable for a shell that gives nothing usable; the message begins with the shell.
/// Cancel: the shell's tree is killed, then operation_aborted is thrown.
task<std::vector<std::string>> ask_login_shell(login_question what, login_user who);

/// What the shell runs once it has read its files: it shows the mark and the environment, whatever came before.
std::string login_script(std::string_view shell, std::string_view mark);

/// The environment in the output; nothing if it is not all there.
std::optional<std::vector<std::string>> find_environment(std::string_view output, std::string_view mark);

}  // namespace berth
