# Breakpad's Linux client, as source from the npm package `minidump`, of which
# nothing is run and nothing goes into this tree. Its own configure fails with
# GCC 12, so the few files of the client are compiled here. Where the package
# cannot be had the benchmarks run without it and say so.
set(breakpad_version 0.26.0)
set(breakpad_root ${CMAKE_CURRENT_BINARY_DIR}/breakpad)
set(breakpad_deps ${breakpad_root}/node_modules/minidump/deps)
set(breakpad_src ${breakpad_deps}/breakpad/src)

if(NOT EXISTS ${breakpad_src}/client/linux/handler/exception_handler.cc)
  file(MAKE_DIRECTORY ${breakpad_root})
  execute_process(
    COMMAND npm install --ignore-scripts --no-audit --no-fund --prefix ${breakpad_root}
            minidump@${breakpad_version}
    WORKING_DIRECTORY ${breakpad_root}
    RESULT_VARIABLE breakpad_result
    OUTPUT_QUIET ERROR_QUIET)
  if(NOT breakpad_result EQUAL 0)
    message(WARNING "npm could not fetch minidump@${breakpad_version}: no Breakpad in the benchmarks")
    return()
  endif()
endif()

enable_language(ASM)
set(breakpad_files
    client/linux/crash_generation/crash_generation_client.cc
    client/linux/dump_writer_common/thread_info.cc
    client/linux/dump_writer_common/ucontext_reader.cc
    client/linux/handler/exception_handler.cc
    client/linux/handler/minidump_descriptor.cc
    client/linux/log/log.cc
    client/linux/microdump_writer/microdump_writer.cc
    client/linux/minidump_writer/linux_core_dumper.cc
    client/linux/minidump_writer/linux_dumper.cc
    client/linux/minidump_writer/linux_ptrace_dumper.cc
    client/linux/minidump_writer/minidump_writer.cc
    client/linux/minidump_writer/pe_file.cc
    client/minidump_file_writer.cc
    common/convert_UTF.cc
    common/md5.cc
    common/string_conversion.cc
    common/linux/breakpad_getcontext.S
    common/linux/elf_core_dump.cc
    common/linux/elfutils.cc
    common/linux/file_id.cc
    common/linux/guid_creator.cc
    common/linux/linux_libc_support.cc
    common/linux/memory_mapped_file.cc
    common/linux/safe_readlink.cc)
list(TRANSFORM breakpad_files PREPEND ${breakpad_src}/)
add_library(cairn_bench_breakpad STATIC ${breakpad_files})
target_include_directories(cairn_bench_breakpad SYSTEM PUBLIC ${breakpad_src} ${breakpad_deps})
target_compile_options(cairn_bench_breakpad PRIVATE -O2 -g -w)
target_link_options(cairn_bench_breakpad PUBLIC -Wl,-z,noexecstack)
