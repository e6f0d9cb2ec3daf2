#pragma once
/// A context whose commands are another's, and whose files are reached by nothing but those commands.

#include <berth/backend.hpp>

#include "context/resident_files.hpp"

#include <memory>
#include <string>
#include <utility>

namespace berth::contract {

class resident_files_place final : public backend_place {
 public:
  explicit resident_files_place(std::shared_ptr<backend_place> inner)
      : inner_(std::move(inner)),
        files_([place = inner_.get()](command what) { return place->start(std::move(what)); }) {}

  task<std::unique_ptr<backend_process>> start(command what) override { return inner_->start(std::move(what)); }
  task<void> destroy() override { return inner_->destroy(); }
  backend_files* files() noexcept override { return &files_; }

 private:
  std::shared_ptr<backend_place> inner_;
  resident_files files_;
};

class resident_files_backend final : public context_backend {
 public:
  explicit resident_files_backend(std::shared_ptr<context_backend> inner) : inner_(std::move(inner)) {}

  std::string_view type() const noexcept override { return inner_->type(); }
  capabilities can() const noexcept override { return inner_->can(); }
  task<spawned_place> spawn(std::string id, spawn_options options) override {
    return spawn_in(inner_, std::move(id), std::move(options));
  }

 private:
  static task<spawned_place> spawn_in(std::shared_ptr<context_backend> inner, std::string id, spawn_options options) {
    spawned_place made = co_await inner->spawn(std::move(id), std::move(options));
    made.place = std::make_shared<resident_files_place>(std::move(made.place));
    co_return made;
  }

  std::shared_ptr<context_backend> inner_;
};

}  // namespace berth::contract
