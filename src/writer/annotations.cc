// SPDX-License-Identifier: Apache-2.0
#include "writer/annotations.h"

#include "safe/bytes.h"
#include "safe/clock.h"

namespace cairn::writer {
namespace {

using format::Field;

// False where another writer has the entry: the ring came round to it.
bool BeginWrite(uint32_t* sequence) {
  uint32_t even = __atomic_load_n(sequence, __ATOMIC_RELAXED) & ~1u;
  return __atomic_compare_exchange_n(
      sequence, &even, even + 1, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}
void EndWrite(uint32_t* sequence) {
  __atomic_add_fetch(sequence, 1, __ATOMIC_RELEASE);
}

KeyEntry* FindKey(Annotations* annotations, const char* name, size_t bytes) {
  for (KeyEntry& key : annotations->keys) {
    if (key.used != 0 && key.name_bytes == bytes &&
        safe::Equal(key.name, name, bytes)) {
      return &key;
    }
  }
  return nullptr;
}

KeyEntry* FindFreeKey(Annotations* annotations) {
  for (KeyEntry& key : annotations->keys) {
    if (key.used == 0) {
      return &key;
    }
  }
  return nullptr;
}

}  // namespace

bool SetKey(Annotations* annotations, const char* name, const char* value) {
  uint32_t free_word = 0;
  if (!__atomic_compare_exchange_n(&annotations->busy,
                                   &free_word,
                                   1,
                                   false,
                                   __ATOMIC_ACQUIRE,
                                   __ATOMIC_RELAXED)) {
    return false;
  }
  const size_t name_bytes = safe::Length(name, sizeof(KeyEntry::name) - 1);
  KeyEntry* key = FindKey(annotations, name, name_bytes);
  if (key == nullptr && value != nullptr) {
    key = FindFreeKey(annotations);
  }
  if (key != nullptr && BeginWrite(&key->sequence)) {
    key->used = value != nullptr ? 1 : 0;
    if (value != nullptr) {
      key->name_bytes = static_cast<uint8_t>(name_bytes);
      key->value_bytes =
          static_cast<uint8_t>(safe::Length(value, sizeof(key->value) - 1));
      safe::Copy(key->name, name, key->name_bytes);
      safe::Copy(key->value, value, key->value_bytes);
    }
    EndWrite(&key->sequence);
  }
  __atomic_store_n(&annotations->busy, 0, __ATOMIC_RELEASE);
  return key != nullptr || value == nullptr;
}

void AddBreadcrumb(Annotations* annotations,
                   const char* category,
                   const char* message) {
  const uint32_t index =
      __atomic_fetch_add(&annotations->breadcrumb_count, 1, __ATOMIC_ACQ_REL);
  BreadcrumbEntry& entry = annotations->breadcrumbs[index % kMaxBreadcrumbs];
  if (!BeginWrite(&entry.sequence)) {
    return;
  }
  entry.time_ns = safe::UnixTimeNs();
  entry.message_bytes =
      static_cast<uint8_t>(safe::Length(message, sizeof(entry.message) - 1));
  safe::Copy(entry.message, message, entry.message_bytes);
  entry.category_bytes = 0;
  if (category != nullptr) {
    entry.category_bytes = static_cast<uint8_t>(
        safe::Length(category, sizeof(entry.category) - 1));
    safe::Copy(entry.category, category, entry.category_bytes);
  }
  EndWrite(&entry.sequence);
}

void PutAnnotations(RecordWriter* records, const Annotations& annotations) {
  for (const KeyEntry& key : annotations.keys) {
    if (key.used == 0 || (key.sequence & 1) != 0) {
      continue;
    }
    ScopedGroup group(records, Field::kKey);
    records->PutString(Field::kKeyName, key.name, key.name_bytes & 63u);
    records->PutString(Field::kKeyValue, key.value, key.value_bytes);
  }
  const uint32_t count = annotations.breadcrumb_count;
  const uint32_t first = count > kMaxBreadcrumbs
                             ? count - static_cast<uint32_t>(kMaxBreadcrumbs)
                             : 0;
  for (uint32_t i = first; i != count; ++i) {
    const BreadcrumbEntry& entry = annotations.breadcrumbs[i % kMaxBreadcrumbs];
    if ((entry.sequence & 1) != 0 || entry.time_ns == 0) {
      continue;
    }
    ScopedGroup group(records, Field::kBreadcrumb);
    records->PutUnsigned(Field::kBreadcrumbTimeNs, entry.time_ns);
    records->PutString(Field::kBreadcrumbMessage,
                       entry.message,
                       entry.message_bytes < 192 ? entry.message_bytes : 191);
    if (entry.category_bytes != 0) {
      records->PutString(Field::kBreadcrumbCategory,
                         entry.category,
                         entry.category_bytes & 31u);
    }
  }
}

}  // namespace cairn::writer
