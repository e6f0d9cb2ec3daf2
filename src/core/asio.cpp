// Asio's own code, compiled once for the whole library (ASIO_SEPARATE_COMPILATION).
#include <asio/impl/src.hpp>
