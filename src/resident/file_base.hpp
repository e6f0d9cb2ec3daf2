#pragma once
/// What all file verbs are made of: descriptors, text, and how they end. A verb is a program of its own; its first failure ends it.

#include "resident/memory.hpp"
#include "wire/file_verbs.hpp"

#include <errno.h>
#include <unistd.h>

#include <cstddef>
#include <string_view>

namespace berth::resident {

using wire::file_reason;

/// Tells the owner, removes what was not finished, and ends the program. (Tests bring one that throws.)
[[noreturn]] void refuse(file_reason reason, int error, std::string_view path = {});

/// Refuses a negative result.
template <class Result>
Result check(Result result, file_reason step = file_reason::none, std::string_view path = {}) {
  if (result < 0) refuse(step, errno, path);
  return result;
}

class file_fd {
 public:
  file_fd() = default;
  explicit file_fd(int fd) : fd_(fd) {}
  file_fd(file_fd&& other) noexcept : fd_(other.release()) {}
  file_fd& operator=(file_fd&& other) noexcept {
    reset(other.release());
    return *this;
  }
  ~file_fd() { reset(); }

  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  int release() {
    const int fd = fd_;
    fd_ = -1;
    return fd;
  }
  /// Keeps errno.
  void reset(int fd = -1) {
    const int kept = errno;
    if (fd_ >= 0) close(fd_);
    fd_ = fd;
    errno = kept;
  }

 private:
  int fd_ = -1;
};

/// Bytes with a NUL behind them.
class text {
 public:
  text() = default;
  explicit text(std::string_view v) { append(v); }
  text(text&& other) noexcept : data_(other.data_), size_(other.size_), room_(other.room_) {
    other.data_ = nullptr;
    other.size_ = other.room_ = 0;
  }
  text& operator=(text&& other) noexcept {
    if (this == &other) return *this;
    this->~text();
    return *new (this) text(static_cast<text&&>(other));
  }
  ~text() { std::free(data_); }

  void append(std::string_view v) {
    const std::size_t before = size_;
    resize(size_ + v.size());
    if (!v.empty()) std::memcpy(data_ + before, v.data(), v.size());
  }
  void assign(std::string_view v) {
    size_ = 0;
    append(v);
  }
  void resize(std::size_t size) {
    if (size >= room_) {
      const std::size_t wanted = size + 1 < 2 * room_ ? 2 * room_ : size + 64;
      data_ = static_cast<char*>(std::realloc(data_, wanted));
      if (data_ == nullptr) out_of_memory();
      room_ = wanted;
    }
    size_ = size;
    data_[size] = '\0';
  }
  const char* c_str() const { return data_ != nullptr ? data_ : ""; }
  char* data() { return data_; }
  std::string_view view() const { return {c_str(), size_}; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

 private:
  char* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t room_ = 0;
};

/// Memory that goes by itself.
class block {
 public:
  explicit block(std::size_t size) : data_(static_cast<char*>(allocate(size))), size_(size) {}
  block(const block&) = delete;
  block& operator=(const block&) = delete;
  ~block() { std::free(data_); }
  char* data() const { return data_; }
  std::size_t size() const { return size_; }

 private:
  char* data_;
  std::size_t size_;
};

/// A growing row of things.
template <class T>
class row {
 public:
  row() = default;
  row(const row&) = delete;
  row& operator=(const row&) = delete;
  ~row() {
    while (size_ > 0) pop();
    std::free(data_);
  }
  void push(T&& item) {
    if (size_ == room_) grow();
    new (data_ + size_++) T(static_cast<T&&>(item));
  }
  void pop() { data_[--size_].~T(); }
  /// The last takes its place.
  void drop(std::size_t at) {
    if (at + 1 < size_) data_[at] = static_cast<T&&>(data_[size_ - 1]);
    pop();
  }
  T& operator[](std::size_t at) { return data_[at]; }
  T& last() { return data_[size_ - 1]; }
  std::size_t size() const { return size_; }

 private:
  void grow() {
    room_ = room_ == 0 ? 16 : 2 * room_;
    T* more = static_cast<T*>(allocate(room_ * sizeof(T)));
    for (std::size_t i = 0; i < size_; ++i) {
      new (more + i) T(static_cast<T&&>(data_[i]));
      data_[i].~T();
    }
    std::free(data_);
    data_ = more;
  }
  T* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t room_ = 0;
};

}  // namespace berth::resident
