#pragma once
/// Memory without a C++ library: a growable byte buffer and objects from malloc. Running out of memory ends the resident, and with
/// it everything it started.

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string_view>

namespace berth::resident {

[[noreturn]] void out_of_memory();

inline void* allocate(std::size_t size) {
  void* p = std::calloc(1, size);
  if (p == nullptr) out_of_memory();
  return p;
}

template <class T, class... Args>
T* make(Args&&... args) {
  return new (allocate(sizeof(T))) T(static_cast<Args&&>(args)...);
}

template <class T>
void destroy(T* object) {
  object->~T();
  std::free(object);
}

/// Bytes with a front that can be consumed.
class buffer {
 public:
  buffer() = default;
  buffer(const buffer&) = delete;
  buffer& operator=(const buffer&) = delete;
  ~buffer() { std::free(data_); }

  void append(const char* data, std::size_t size) {
    if (size == 0) return;
    std::memcpy(reserve(size), data, size);
    commit(size);
  }
  /// Room for `size` bytes behind the end, to be committed.
  char* reserve(std::size_t size);
  void commit(std::size_t size) { end_ += size; }
  /// Once empty, it gives back what was a lot.
  void consume(std::size_t size);
  void clear() { begin_ = end_ = 0; }
  std::string_view view() const { return {data_ + begin_, end_ - begin_}; }
  std::size_t size() const { return end_ - begin_; }

 private:
  char* data_ = nullptr;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::size_t capacity_ = 0;
};

/// A doubly linked list through the members `next` and `prev` of its elements.
template <class T>
struct list {
  T* first = nullptr;

  void insert(T* item) {
    item->prev = nullptr;
    item->next = first;
    if (first != nullptr) first->prev = item;
    first = item;
  }
  void remove(T* item) {
    (item->prev != nullptr ? item->prev->next : first) = item->next;
    if (item->next != nullptr) item->next->prev = item->prev;
  }
};

}  // namespace berth::resident
