# Compiler flags, and the two kinds of library in this tree: crash-time code and
# ordinary code. The folder decides the kind.

find_program(CAIRN_CCACHE ccache)
if(CAIRN_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_C_COMPILER_LAUNCHER ${CAIRN_CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CAIRN_CCACHE})
endif()

set(CAIRN_WARNINGS -Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion
                   -Wnon-virtual-dtor -Wimplicit-fallthrough -Werror)

# What every target of ours is compiled with.
add_library(cairn_flags INTERFACE)
target_compile_options(cairn_flags INTERFACE ${CAIRN_WARNINGS})
target_include_directories(cairn_flags INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>
                                                 $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>)

# A cross build finds header-only libraries here (cmake/apple.cmake).
if(CAIRN_HEADERS)
  target_include_directories(cairn_flags SYSTEM INTERFACE ${CAIRN_HEADERS})
endif()

# Sanitizers go over ordinary code only: crash-time code must run where their
# run-time libraries cannot. A program that holds crash-time code alone, or is
# linked statically, sets the target property CAIRN_BARE and gets none.
add_library(cairn_sanitizers INTERFACE)
if(CAIRN_SANITIZE)
  target_compile_options(cairn_sanitizers INTERFACE -fsanitize=${CAIRN_SANITIZE}
                         -fno-sanitize-recover=all -fno-omit-frame-pointer)
  set(ignored ${PROJECT_SOURCE_DIR}/cmake/sanitizer_ignore.txt)
  target_compile_options(
    cairn_sanitizers INTERFACE $<$<CXX_COMPILER_ID:Clang>:-fsanitize-ignorelist=${ignored}>)
  add_link_options($<$<NOT:$<BOOL:$<TARGET_PROPERTY:CAIRN_BARE>>>:-fsanitize=${CAIRN_SANITIZE}>)
endif()

# Fuzzers want coverage and sanitizers in the crash-time decoders too. Such a
# build decodes; it cannot report a crash.
option(CAIRN_SANITIZE_CRASH_TIME "Sanitize crash-time code too; for fuzzers only" OFF)
add_library(cairn_crash_time_sanitizers INTERFACE)
if(CAIRN_SANITIZE_CRASH_TIME)
  target_link_libraries(cairn_crash_time_sanitizers INTERFACE cairn_sanitizers)
else()
  target_compile_options(cairn_crash_time_sanitizers INTERFACE -fno-sanitize=all)
endif()

# Largest stack frame of a crash-time function, bytes.
set(CAIRN_FRAME_BYTES 2048)
if(CAIRN_SANITIZE_CRASH_TIME)
  set(CAIRN_FRAME_BYTES 65536)
endif()

# cairn_crash_time_library(NAME SOURCES…): objects that may run in a dying process.
function(cairn_crash_time_library name)
  add_library(${name} OBJECT ${ARGN})
  target_link_libraries(${name} PUBLIC cairn_flags PRIVATE cairn_crash_time_sanitizers)
  set_property(GLOBAL APPEND PROPERTY CAIRN_CRASH_TIME_LIBRARIES ${name})
  target_compile_options(
    ${name}
    PRIVATE -fno-exceptions -fno-rtti -fno-stack-protector -fno-threadsafe-statics
            -fasynchronous-unwind-tables
            -fvisibility=hidden -fvisibility-inlines-hidden -fno-builtin
            -fno-omit-frame-pointer -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=0 -fno-lto
            -Wframe-larger-than=${CAIRN_FRAME_BYTES} -Wvla -Walloca
            $<$<CXX_COMPILER_ID:GNU>:-fno-tree-loop-distribute-patterns>
            -include ${PROJECT_SOURCE_DIR}/src/safe/libc_names.h)
endfunction()

# cairn_library(NAME SOURCES…): ordinary code.
function(cairn_library name)
  add_library(${name} OBJECT ${ARGN})
  target_link_libraries(${name} PUBLIC cairn_flags cairn_sanitizers)
  target_compile_options(${name} PRIVATE -fvisibility=hidden -fvisibility-inlines-hidden)
endfunction()

# What a stage of scripts/test builds where it does not run all: every unit test;
# those of them that have threads; the fuzzers.
foreach(stage IN ITEMS unit_tests threaded_tests fuzzers)
  if(PROJECT_IS_TOP_LEVEL)
    add_custom_target(${stage})
  endif()
endforeach()

# cairn_stage_target(STAGE TARGETS…): the stage's tests need these.
function(cairn_stage_target stage)
  if(TARGET ${stage})
    add_dependencies(${stage} ${ARGN})
  endif()
endfunction()

# cairn_unit_test(NAME [THREADS] SOURCES… LIBS targets…): a GoogleTest program; its
# object libraries are linked whole. THREADS: it has some, so ThreadSanitizer runs it.
function(cairn_unit_test name)
  if(NOT CAIRN_BUILD_TESTS)
    return()
  endif()
  cmake_parse_arguments(ARG "THREADS" "" "LIBS" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE cairn_flags cairn_sanitizers ${ARG_LIBS} GTest::gtest
                                        GTest::gtest_main Threads::Threads)
  target_compile_definitions(${name} PRIVATE CAIRN_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
                                             CAIRN_BINARY_DIR="${PROJECT_BINARY_DIR}")
  add_test(NAME ${name} COMMAND ${name})
  cairn_stage_target(unit_tests ${name})
  if(ARG_THREADS)
    set(suppressed ${PROJECT_SOURCE_DIR}/cmake/tsan_suppressions.txt)
    set_tests_properties(${name} PROPERTIES LABELS "unit;threads" ENVIRONMENT
                                            "TSAN_OPTIONS=suppressions=${suppressed}")
    cairn_stage_target(threaded_tests ${name})
  else()
    set_tests_properties(${name} PROPERTIES LABELS unit)
  endif()
endfunction()

# cairn_fuzzer(NAME SOURCES… LIBS targets…): a libFuzzer program; the name ends
# in _fuzzer, its seeds lie in fuzz/corpus/NAME without that ending.
function(cairn_fuzzer name)
  cmake_parse_arguments(ARG "" "" "LIBS" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE cairn_flags cairn_sanitizers ${ARG_LIBS}
                                        Threads::Threads)
  target_compile_options(${name} PRIVATE -fsanitize=fuzzer-no-link)
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  cairn_stage_target(fuzzers ${name})
endfunction()
