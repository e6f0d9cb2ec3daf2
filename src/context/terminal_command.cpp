#include "context/terminal_command.hpp"

#include <utility>

namespace berth {
namespace {

// Who the user is and which shell is theirs is known in the place alone. A shell that refuses logins is none. Names begin with
// berth_: a variable of the environment is exported, and must not be changed on the way.
constexpr const char* login_shell = R"sh(berth_uid=$(id -u 2>/dev/null)
berth_shell=
berth_entry=$(getent passwd "$berth_uid" 2>/dev/null) && berth_shell=${berth_entry##*:}
if [ -z "$berth_shell" ] && [ -r /etc/passwd ]; then
  while IFS=: read -r berth_a berth_b berth_id berth_c berth_d berth_e berth_last; do
    if [ "$berth_id" = "$berth_uid" ]; then berth_shell=$berth_last; break; fi
  done </etc/passwd
fi
for berth_try in "$berth_shell" "$SHELL" /bin/sh; do
  case $berth_try in
    */nologin | */false) continue ;;
    /*) if [ -f "$berth_try" ] && [ -x "$berth_try" ]; then break; fi ;;
  esac
done
export SHELL="$berth_try"
exec "$berth_try" -l)sh";

}  // namespace

command terminal_command(const terminal_options& options) {
  command what = options.run() ? *options.run() : command(login_shell);
  if (options.size()) {
    what.terminal(options.size()->columns(), options.size()->rows());
  } else if (!what.terminal()) {
    const terminal_size usual;
    what.terminal(usual.columns(), usual.rows());
  }
  if (!options.cwd().empty()) what.cwd(options.cwd());
  for (const auto& [name, value] : options.env_changes()) {
    if (value) {
      what.env(name, *value);
    } else {
      what.unset_env(name);
    }
  }
  if (what.input_from() == input_kind::closed) what.input_stream();
  what.output_limit(options.scrollback());
  return what;
}

}  // namespace berth
