#pragma once
/// System calls that touch no libc state. A child made by clone(CLONE_VM) shares errno with the running resident, so between
/// clone and exec nothing else may be called.

namespace berth::resident {

/// The kernel's own answer: negative errno on failure.
inline long raw_syscall(long number, long a = 0, long b = 0, long c = 0, long d = 0) {
#if defined(__x86_64__)
  long result;
  register long r10 asm("r10") = d;
  asm volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10) : "rcx", "r11", "memory");
  return result;
#elif defined(__aarch64__)
  register long x8 asm("x8") = number;
  register long x0 asm("x0") = a;
  register long x1 asm("x1") = b;
  register long x2 asm("x2") = c;
  register long x3 asm("x3") = d;
  asm volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3) : "memory");
  return x0;
#else
#error "The resident knows x86-64 and aarch64."
#endif
}

template <class T>
long raw_pointer(T* p) {
  return reinterpret_cast<long>(p);
}

}  // namespace berth::resident
