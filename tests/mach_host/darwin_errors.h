// SPDX-License-Identifier: Apache-2.0
//
// Error numbers of <sys/errno.h> on Darwin, by name; layout_check.cc compares.
#ifndef MACH_HOST_DARWIN_ERRORS_H_
#define MACH_HOST_DARWIN_ERRORS_H_

#define DARWIN_ERRORS(X)                                                       \
  X(EPERM, 1)                                                                  \
  X(ENOENT, 2)                                                                 \
  X(ESRCH, 3) X(EINTR, 4) X(EIO, 5) X(ENXIO, 6) X(E2BIG, 7) X(ENOEXEC, 8) X(   \
      EBADF, 9) X(ECHILD, 10) X(EDEADLK, 11) X(ENOMEM, 12) X(EACCES, 13)       \
      X(EFAULT, 14) X(EBUSY, 16) X(EEXIST, 17) X(EXDEV, 18) X(ENODEV, 19) X(   \
          ENOTDIR, 20) X(EISDIR, 21) X(EINVAL, 22) X(ENFILE, 23) X(EMFILE, 24) \
          X(ENOTTY, 25) X(ETXTBSY, 26) X(EFBIG, 27) X(ENOSPC, 28)              \
              X(ESPIPE, 29) X(EROFS, 30) X(EMLINK, 31) X(EPIPE, 32)            \
                  X(EDOM, 33) X(ERANGE, 34) X(EAGAIN, 35) X(EINPROGRESS, 36)   \
                      X(EALREADY, 37) X(ENOTSOCK, 38) X(EADDRINUSE, 48)        \
                          X(ENETUNREACH, 51) X(ECONNABORTED, 53) X(            \
                              ECONNRESET, 54) X(ENOBUFS, 55)                   \
                              X(EISCONN, 56) X(ENOTCONN, 57) X(ETIMEDOUT, 60)  \
                                  X(ECONNREFUSED, 61) X(ELOOP, 62)             \
                                      X(ENAMETOOLONG, 63) X(ENOTEMPTY, 66)     \
                                          X(EDQUOT, 69) X(ENOLCK, 77)          \
                                              X(ENOSYS, 78) X(EOVERFLOW, 84)   \
                                                  X(ECANCELED, 89)             \
                                                      X(EILSEQ, 92)            \
                                                          X(ENOTSUP, 45)

#endif  // MACH_HOST_DARWIN_ERRORS_H_
