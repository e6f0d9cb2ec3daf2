#pragma once
/// A file beside a result that takes all of a stream.

#include "core/blocking.hpp"

#include <berth/task.hpp>

#include <memory>
#include <string>
#include <string_view>

namespace berth {

/// Written in large pieces, off the thread of the io_context. After the first error the rest is dropped, and failure() says so.
class spill_file {
 public:
  /// Throws what the system says where it cannot be opened.
  static task<std::shared_ptr<spill_file>> open(std::shared_ptr<blocking_pool> pool, std::string path);

  /// Says whether a flush is due.
  bool add(std::string_view bytes);
  /// Cancel: nothing of what was added is lost; flush again.
  task<void> flush();
  task<void> close();

  const std::string& path() const noexcept;
  /// One line, or empty.
  const std::string& failure() const noexcept;

 private:
  struct content;
  spill_file(std::shared_ptr<blocking_pool> pool, std::shared_ptr<content> what);

  static task<void> run(std::shared_ptr<blocking_pool> pool, std::shared_ptr<content> what, void (*function)(content&));

  std::shared_ptr<blocking_pool> pool_;
  std::shared_ptr<content> content_;
};

}  // namespace berth
