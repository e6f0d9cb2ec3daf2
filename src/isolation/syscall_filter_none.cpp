#include "isolation/syscall_filter.hpp"

#include "berth/error.hpp"

namespace berth {

unique_fd make_syscall_filter(access_rule, filter_architecture) {
  throw error(make_error_code(errc::unsupported),
              "Berth was built without libseccomp (build it again with libseccomp)");
}

}  // namespace berth
