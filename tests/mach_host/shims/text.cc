// SPDX-License-Identifier: Apache-2.0
//
// Characters and locales: the rune table of <runetype.h>, and the one locale
// "C".
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <wchar.h>

#include <cctype>
#include <cstdint>

#include "../shim_table.h"

namespace mach_host {
namespace {

// Character classes of <ctype.h> there: bits of the rune table.
int MaskRune(int character, unsigned long mask) {
  if (character < 0 || character > 127)
    return 0;
  unsigned long bits = 0;
  if (isalpha(character))
    bits |= 0x100;
  if (iscntrl(character))
    bits |= 0x200;
  if (isdigit(character))
    bits |= 0x400;
  if (isgraph(character))
    bits |= 0x800;
  if (islower(character))
    bits |= 0x1000;
  if (ispunct(character))
    bits |= 0x2000;
  if (isspace(character))
    bits |= 0x4000;
  if (isupper(character))
    bits |= 0x8000;
  if (isxdigit(character))
    bits |= 0x10000;
  if (character == ' ' || character == '\t')
    bits |= 0x20000;
  if (isprint(character))
    bits |= 0x40000;
  return static_cast<int>(bits & mask);
}
int MaskRuneLocale(int character, unsigned long mask, void*) {
  return MaskRune(character, mask);
}
// <runetype.h>: the types of the first 256 characters start at byte 60 of the
// table.
struct RuneLocale {
  char magic[8], encoding[32];
  void *sgetrune, *sputrune;
  std::int32_t invalid;
  std::uint32_t types[256];
  std::int32_t lower[256], upper[256];
  char rest[256];
};
RuneLocale MakeRunes() {
  RuneLocale made = {};
  for (int c = 0; c < 128; ++c) {
    made.types[c] = static_cast<std::uint32_t>(MaskRune(c, ~0ul));
    made.lower[c] = tolower(c);
    made.upper[c] = toupper(c);
  }
  return made;
}
const RuneLocale runes = MakeRunes();
int MbCurMax(void*) {
  return 4;
}

// The locale of the C library, whatever is asked for.
locale_t NewLocale(int, const char*, locale_t) {
  return ::newlocale(LC_ALL_MASK, "C", nullptr);
}
char* SetLocale(int, const char*) {
  static char name[] = "C";
  return name;
}
lconv* LocaleConv(void*) {
  return ::localeconv();
}
int SnprintfLocale(char* out,
                   std::size_t size,
                   void*,
                   const char* format,
                   ...) {
  va_list list;
  va_start(list, format);
  const int result = vsnprintf(out, size, format, list);
  va_end(list);
  return result;
}
int AsprintfLocale(char** out, void*, const char* format, ...) {
  va_list list;
  va_start(list, format);
  const int result = vasprintf(out, format, list);
  va_end(list);
  return result;
}
int SscanfLocale(const char* text, void*, const char* format, ...) {
  va_list list;
  va_start(list, format);
  const int result = vsscanf(text, format, list);
  va_end(list);
  return result;
}
std::size_t MbrToWc(wchar_t* out,
                    const char* in,
                    std::size_t size,
                    mbstate_t*,
                    void*) {
  mbstate_t state = {};
  return mbrtowc(out, in, size, &state);
}
std::size_t WcrToMb(char* out, wchar_t c, mbstate_t*, void*) {
  mbstate_t state = {};
  return wcrtomb(out, c, &state);
}
int MbToWc(wchar_t* out, const char* in, std::size_t size, void*) {
  return mbtowc(out, in, size);
}
std::size_t MbrLen(const char* in, std::size_t size, mbstate_t*, void*) {
  mbstate_t state = {};
  return mbrlen(in, size, &state);
}
std::size_t MbsnrToWcs(wchar_t* out,
                       const char** in,
                       std::size_t bytes,
                       std::size_t size,
                       mbstate_t*,
                       void*) {
  mbstate_t state = {};
  return mbsnrtowcs(out, in, bytes, size, &state);
}
std::size_t MbsrToWcs(wchar_t* out,
                      const char** in,
                      std::size_t size,
                      mbstate_t*,
                      void*) {
  mbstate_t state = {};
  return mbsrtowcs(out, in, size, &state);
}
std::size_t WcsnrToMbs(char* out,
                       const wchar_t** in,
                       std::size_t count,
                       std::size_t size,
                       mbstate_t*,
                       void*) {
  mbstate_t state = {};
  return wcsnrtombs(out, in, count, size, &state);
}

}  // namespace

MACH_SHIM("___maskrune", MaskRune);
MACH_SHIM("___maskrune_l", MaskRuneLocale);
MACH_SHIM("___tolower", tolower);
MACH_SHIM("___toupper", toupper);
MACH_SHIM("____mb_cur_max_l", MbCurMax);
MACH_SHIM("____mb_cur_max", MbCurMax);
MACH_SHIM("_newlocale", NewLocale);
MACH_SHIM("_setlocale", SetLocale);
MACH_SHIM("_localeconv_l", LocaleConv);
MACH_SHIM("_localeconv", LocaleConv);
MACH_SHIM("_snprintf_l", SnprintfLocale);
MACH_SHIM("_asprintf_l", AsprintfLocale);
MACH_SHIM("_sscanf_l", SscanfLocale);
MACH_SHIM("_mbrtowc_l", MbrToWc);
MACH_SHIM("_wcrtomb_l", WcrToMb);
MACH_SHIM("_mbtowc_l", MbToWc);
MACH_SHIM("_mbrlen_l", MbrLen);
MACH_SHIM("_mbsnrtowcs_l", MbsnrToWcs);
MACH_SHIM("_mbsrtowcs_l", MbsrToWcs);
MACH_SHIM("_wcsnrtombs_l", WcsnrToMbs);
MACH_SHIM_DATA("__DefaultRuneLocale", runes);

}  // namespace mach_host
