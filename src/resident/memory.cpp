#include "resident/memory.hpp"

#include <unistd.h>

namespace berth::resident {

void out_of_memory() { _exit(70); }

char* buffer::reserve(std::size_t size) {
  if (begin_ > 0 && capacity_ - end_ < size) {
    std::memmove(data_, data_ + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  if (capacity_ - end_ < size) {
    std::size_t wanted = capacity_ < 4096 ? 4096 : capacity_ * 2;
    if (wanted < end_ + size) wanted = end_ + size;
    data_ = static_cast<char*>(std::realloc(data_, wanted));
    if (data_ == nullptr) out_of_memory();
    capacity_ = wanted;
  }
  return data_ + end_;
}

void buffer::consume(std::size_t size) {
  constexpr std::size_t kept = 256 * 1024;
  begin_ += size;
  if (begin_ != end_) return;
  begin_ = end_ = 0;
  if (capacity_ <= kept) return;
  std::free(data_);
  data_ = nullptr;
  capacity_ = 0;
}

}  // namespace berth::resident
