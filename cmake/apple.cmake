# SPDX-License-Identifier: Apache-2.0
# Toolchain file: Mach-O for macOS 11 and later, built on Linux with the compiler,
# headers and libSystem stubs of the npm package that scripts/apple_tools fetches.
#
#   cmake --preset apple-x86_64    or    cmake --preset apple-arm64
#
# CAIRN_APPLE_ARCH: x86_64 or arm64. On a Mac this file is not used.
set(CMAKE_SYSTEM_NAME Darwin)
set(CMAKE_SYSTEM_VERSION 20)
set(CAIRN_APPLE_ARCH x86_64 CACHE STRING "x86_64 or arm64")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES CAIRN_APPLE_ARCH)
set(CMAKE_SYSTEM_PROCESSOR ${CAIRN_APPLE_ARCH})
if(CAIRN_APPLE_ARCH STREQUAL "arm64")
  set(target aarch64-macos.11.0)
else()
  set(target x86_64-macos.11.0)
endif()

set(tools ${CMAKE_CURRENT_LIST_DIR}/../build-apple)
foreach(name cc c++)
  set(wrapper ${tools}/bin/${target}-${name})
  if(NOT EXISTS ${wrapper})
    message(FATAL_ERROR "no ${wrapper}: run scripts/apple_tools")
  endif()
endforeach()
set(CMAKE_C_COMPILER ${tools}/bin/${target}-cc)
set(CMAKE_CXX_COMPILER ${tools}/bin/${target}-c++)
foreach(tool AR:llvm-ar RANLIB:llvm-ranlib NM:llvm-nm STRIP:llvm-strip
             INSTALL_NAME_TOOL:llvm-install-name-tool OBJDUMP:llvm-objdump)
  string(REPLACE ":" ";" pair ${tool})
  list(GET pair 0 variable)
  list(GET pair 1 program)
  find_program(CAIRN_TOOL_${variable} NAMES ${program}-19 ${program} REQUIRED)
  set(CMAKE_${variable} ${CAIRN_TOOL_${variable}})
endforeach()
# Headers of libraries that are only headers, or loaded at run time: links into
# the machine's own, so that nothing else of /usr/include is seen.
set(CAIRN_HEADERS ${tools}/include)
set(CMAKE_FIND_ROOT_PATH ${tools})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
# CMake's own trials are optimised too: the compiler then builds its libc++ once,
# not once for each kind of optimisation (a minute each).
set(CMAKE_TRY_COMPILE_CONFIGURATION RelWithDebInfo)
set(CMAKE_OSX_SYSROOT "" CACHE STRING "none: the compiler brings it" FORCE)
set(CMAKE_OSX_DEPLOYMENT_TARGET "" CACHE STRING "in the compiler's target" FORCE)
