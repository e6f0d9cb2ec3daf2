#include "host/process_backend.hpp"

#include "berth/error.hpp"
#include "context/resident_capabilities.hpp"
#include "host/environment.hpp"
#include "host/host_place.hpp"
#include "host/login_environment.hpp"
#include "host/working_directory.hpp"

#include <asio/io_context.hpp>

#include <filesystem>
#include <utility>

namespace berth {
namespace {

class process_backend final : public context_backend {
 public:
  process_backend(asio::any_io_executor executor, process_context_options options, resident_transport transport)
      : shared_(std::make_shared<shared>(std::move(executor), std::move(options), transport)) {}

  std::string_view type() const noexcept override { return "process"; }

  capabilities can() const noexcept override { return resident_capabilities(); }

  task<spawned_place> spawn(std::string, spawn_options options) override {
    return spawn_in(shared_, std::move(options));
  }

 private:
  struct shared {
    shared(asio::any_io_executor e, process_context_options o, resident_transport t)
        : executor(std::move(e)), options(std::move(o)), transport(t), log(options.log) {}

    std::vector<std::string> changes(const spawn_options& more) const {
      std::vector<std::string> all;
      for (const std::string& name : options.unset_env) check_variable_name(name, "unset_env");
      all = options.unset_env;
      for (const auto* list : {&options.env, &more.env()}) {
        for (const auto& [name, value] : *list) {
          check_variable_name(name, "env");
          all.push_back(name + "=" + value);
        }
      }
      return all;
    }

    asio::any_io_executor executor;
    process_context_options options;
    resident_transport transport;
    logger log;
    std::shared_ptr<found_cgroups> cgroups = std::make_shared<found_cgroups>();
    std::shared_ptr<blocking_pool> pool = std::make_shared<blocking_pool>();
  };

  /// The place has the shell's environment then, or, with a warning, none of it.
  static task<void> log_in(std::shared_ptr<shared> self, std::shared_ptr<host_place> place, login_question question) {
    auto changes = question.changes;
    auto find = [] { return current_login_user(); };
    auto finding = self->pool->run(find);
    login_user who = co_await std::move(finding);
    try {
      auto asking = ask_login_shell(std::move(question), std::move(who));
      auto all = co_await std::move(asking);
      all.insert(all.end(), changes.begin(), changes.end());
      place->set_changes(std::move(all));
    } catch (const error& failure) {
      if (is_cancelled(failure.code())) throw;
      self->log.warning("login environment: " + failure.message() + "; commands run without it");
    }
  }

  static task<spawned_place> spawn_in(std::shared_ptr<shared> self, spawn_options options) {
    if (self->options.login_timeout.count() <= 0)
      throw error(make_error_code(errc::invalid_argument), "login_timeout: must be more than 0");
    host_place_options place_options;
    place_options.env = inherited_environment(self->options.inherit_env);
    place_options.changes = self->changes(options);
    place_options.transport = self->transport;
    place_options.pool = self->pool;
    place_options.cgroups = self->cgroups;
    place_options.log = self->log;
    const std::string wanted = options.cwd().empty() ? self->options.cwd : options.cwd();
    auto make = [wanted] { return make_working_directory(wanted); };
    auto making = self->pool->run(make);
    std::string cwd = co_await std::move(making);
    if (self->options.isolation) {
      // By the name that was given: the links that it goes over matter.
      auto isolate = [settings = *self->options.isolation, named = wanted.empty() ? cwd : wanted] {
        return std::make_shared<isolation_site>(settings, std::filesystem::absolute(named).string());
      };
      auto isolating = self->pool->run(std::move(isolate));
      place_options.isolation = co_await std::move(isolating);
      for (const std::string& each : place_options.isolation->warnings()) self->log.warning(each);
      auto all = place_options.isolation->changes(place_options.env);
      all.insert(all.end(), place_options.changes.begin(), place_options.changes.end());
      place_options.changes = std::move(all);
    }
    login_question question{
        self->executor, self->pool, {}, cwd, place_options.env, place_options.changes, self->options.login_timeout};
    const auto place = std::make_shared<host_place>(self->executor, std::move(place_options));
    co_await place->open();
    question.place = place;
    if (self->options.login_environment) co_await log_in(self, place, std::move(question));
    spawned_place done;
    done.place = place;
    done.cwd = std::move(cwd);
    co_return done;
  }

  std::shared_ptr<shared> shared_;
};

}  // namespace

std::shared_ptr<context_backend> make_process_backend(asio::any_io_executor executor, process_context_options options,
                                                      resident_transport transport) {
  return std::make_shared<process_backend>(std::move(executor), std::move(options), transport);
}

context make_process_context(asio::io_context& io, process_context_options options) {
  return context(io.get_executor(), make_process_backend(io.get_executor(), std::move(options)));
}

}  // namespace berth
