#pragma once
/// How far a pull is, on standard error.

#include <berth/docker_context.hpp>

#include <chrono>
#include <set>
#include <string>
#include <string_view>

namespace berth::cli {

/// What is known of one pull; its texts. No I/O.
class pull_summary {
 public:
  void add(const pull_progress& now);

  const std::string& image() const noexcept { return image_; }
  /// "12.3 MB of 27.1 MB, 2 of 5 layers"
  std::string text() const;
  /// ": 27.1 MB, 5 layers"; empty where nothing had to come.
  std::string whole() const;
  /// A line of a terminal with so many columns: image, bar, text.
  std::string bar(std::size_t columns) const;

 private:
  std::string image_;
  std::uint64_t done_ = 0;
  std::uint64_t size_ = 0;
  std::set<std::string> layers_;
  std::set<std::string> finished_;
  bool unpacks_ = false;
};

/// On a terminal a bar that is repainted, and goes when the pull has ended or this does; elsewhere a line at the beginning, one every
/// second, and one at the end. Silent where nothing is pulled.
class pull_display {
 public:
  using clock = std::chrono::steady_clock;

  /// The word that the lines begin with.
  explicit pull_display(std::string_view subcommand);
  pull_display(const pull_display&) = delete;
  pull_display& operator=(const pull_display&) = delete;
  ~pull_display();

  void tell(const pull_progress& now);
  /// The image is there.
  void finish();
  /// Makes room for another line.
  void hide();

 private:
  std::string subcommand_;
  bool on_terminal_;
  bool shown_ = false;
  bool told_ = false;
  pull_summary summary_;
  clock::time_point began_ = clock::now();
  clock::time_point next_ = began_;
};

}  // namespace berth::cli
