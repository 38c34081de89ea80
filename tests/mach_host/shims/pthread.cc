// SPDX-License-Identifier: Apache-2.0
//
// <pthread.h>. Objects of the program hold the host's own inside them where
// they fit (a mutex: 8 bytes of signature and 56; an attribute: 8 and 56), a
// pointer where not.
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <new>

#include "../darwin.h"
#include "../kernel/ports.h"
#include "../kernel/thread.h"
#include "../shim_table.h"
#include "error_number.h"

namespace mach_host {
namespace {

using Hook = void (*)(unsigned event,
                      pthread_t thread,
                      void* address,
                      std::size_t size);
std::atomic<Hook> hook = nullptr;

void CallHook(unsigned event, Thread* thread) {
  if (const Hook call = hook.load(); call != nullptr)
    call(event,
         thread->handle,
         reinterpret_cast<void*>(thread->stack_top - thread->stack_size),
         thread->stack_size);
}

Hook InstallHook(Hook wanted) {
  return hook.exchange(wanted);
}

struct Attributes {
  std::int64_t signature;
  pthread_attr_t host;
};
static_assert(sizeof(Attributes) <= 64);

struct Start {
  void* (*routine)(void*);
  void* argument;
};

struct AtEnd {
  Thread* thread = nullptr;
  ~AtEnd() {
    if (thread == nullptr)
      return;
    CallHook(darwin::kHookTerminate, thread);
    CallHook(darwin::kHookDestroy, thread);
    DetachThread(thread);
  }
};

void* RunThread(void* raw) {
  const Start start = *static_cast<Start*>(raw);
  delete static_cast<Start*>(raw);
  thread_local AtEnd end;
  end.thread = AttachThread();
  CallHook(darwin::kHookCreate, end.thread);
  CallHook(darwin::kHookStart, end.thread);
  return start.routine(start.argument);
}

int Create(pthread_t* thread,
           Attributes* attributes,
           void* (*routine)(void*),
           void* argument) {
  auto* start = new Start{routine, argument};
  pthread_attr_t usual;
  pthread_attr_t* host = attributes != nullptr ? &attributes->host : nullptr;
  if (host == nullptr) {
    pthread_attr_init(&usual);
    pthread_attr_setstacksize(&usual,
                              512 * 1024);  // Darwin's default for threads
    host = &usual;
  }
  const int error = pthread_create(thread, host, RunThread, start);
  if (error != 0)
    delete start;
  return DarwinError(error);
}

int AttrInit(Attributes* a) {
  a->signature = 0x54484441;
  pthread_attr_init(&a->host);
  return DarwinError(pthread_attr_setstacksize(&a->host, 512 * 1024));
}
int AttrDestroy(Attributes* a) {
  return pthread_attr_destroy(&a->host);
}
int AttrSetStackSize(Attributes* a, std::size_t size) {
  return DarwinError(pthread_attr_setstacksize(&a->host, size));
}
int AttrGetStackSize(const Attributes* a, std::size_t* size) {
  return DarwinError(pthread_attr_getstacksize(&a->host, size));
}
int AttrSetDetach(Attributes* a, int state) {  // JOINABLE 1, DETACHED 2
  return pthread_attr_setdetachstate(
      &a->host, state == 2 ? PTHREAD_CREATE_DETACHED : PTHREAD_CREATE_JOINABLE);
}
int AttrSetGuardSize(Attributes* a, std::size_t size) {
  return DarwinError(pthread_attr_setguardsize(&a->host, size));
}
int AttrSetStack(Attributes* a, void* address, std::size_t size) {
  return DarwinError(pthread_attr_setstack(&a->host, address, size));
}
int Join(pthread_t thread, void** result) {
  return DarwinError(pthread_join(thread, result));
}

// Mutexes.
struct Mutex {
  std::atomic<std::int64_t> signature;
  alignas(8) char host[56];
  pthread_mutex_t* get() { return reinterpret_cast<pthread_mutex_t*>(host); }
};
static_assert(sizeof(Mutex) == 64 && sizeof(pthread_mutex_t) <= 56);
constexpr std::int64_t kReady = 0x4d555445, kMaking = 0x4d555446;
constexpr int kDarwinRecursive = 2, kDarwinErrorCheck = 1;

void InitMutex(Mutex* mutex, int kind) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  if (kind == kDarwinRecursive)
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
  if (kind == kDarwinErrorCheck)
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK);
  pthread_mutex_init(mutex->get(), &attributes);
}

// The host's mutex of one that may still be as its static initialiser left it.
pthread_mutex_t* Ready(Mutex* mutex) {
  for (;;) {
    std::int64_t seen = mutex->signature;
    if (seen == kReady)
      return mutex->get();
    if (seen == kMaking) {
      sched_yield();
      continue;
    }
    if (!mutex->signature.compare_exchange_strong(seen, kMaking))
      continue;
    InitMutex(mutex,
              seen == darwin::kRecursiveMutexSignature    ? kDarwinRecursive
              : seen == darwin::kErrorCheckMutexSignature ? kDarwinErrorCheck
                                                          : 0);
    mutex->signature = kReady;
    return mutex->get();
  }
}

struct MutexAttributes {
  std::int64_t signature;
  int kind;
};
int MutexAttrInit(MutexAttributes* a) {
  return *a = {0x4d545841, 0}, 0;
}
int MutexAttrDestroy(MutexAttributes*) {
  return 0;
}
int MutexAttrSetType(MutexAttributes* a, int kind) {
  return a->kind = kind, 0;
}
int MutexInit(Mutex* mutex, const MutexAttributes* a) {
  InitMutex(mutex, a == nullptr ? 0 : a->kind);
  mutex->signature = kReady;
  return 0;
}
int MutexDestroy(Mutex* mutex) {
  return DarwinError(pthread_mutex_destroy(Ready(mutex)));
}
int MutexLock(Mutex* mutex) {
  return DarwinError(pthread_mutex_lock(Ready(mutex)));
}
int MutexTryLock(Mutex* mutex) {
  return DarwinError(pthread_mutex_trylock(Ready(mutex)));
}
int MutexUnlock(Mutex* mutex) {
  return DarwinError(pthread_mutex_unlock(Ready(mutex)));
}

// Condition variables: 8 bytes of signature and 40, a pointer in them.
struct Cond {
  std::atomic<std::int64_t> signature;
  pthread_cond_t* host;
  char rest[32];
};
pthread_cond_t* Ready(Cond* cond) {
  for (;;) {
    std::int64_t seen = cond->signature;
    if (seen == kReady)
      return cond->host;
    if (seen == kMaking) {
      sched_yield();
      continue;
    }
    if (!cond->signature.compare_exchange_strong(seen, kMaking))
      continue;
    cond->host = new pthread_cond_t(PTHREAD_COND_INITIALIZER);
    cond->signature = kReady;
    return cond->host;
  }
}
int CondInit(Cond* cond, const void*) {
  cond->signature = darwin::kCondSignature;
  Ready(cond);
  return 0;
}
int CondDestroy(Cond* cond) {
  if (cond->signature == kReady)
    delete cond->host;
  cond->signature = 0;
  return 0;
}
int CondSignal(Cond* cond) {
  return pthread_cond_signal(Ready(cond));
}
int CondBroadcast(Cond* cond) {
  return pthread_cond_broadcast(Ready(cond));
}
int CondWait(Cond* cond, Mutex* mutex) {
  return DarwinError(pthread_cond_wait(Ready(cond), Ready(mutex)));
}
int CondTimedWait(Cond* cond, Mutex* mutex, const timespec* until) {
  return DarwinError(pthread_cond_timedwait(Ready(cond), Ready(mutex), until));
}
int CondTimedWaitRelative(Cond* cond, Mutex* mutex, const timespec* time) {
  timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += time->tv_sec + (until.tv_nsec + time->tv_nsec) / 1000000000;
  until.tv_nsec = (until.tv_nsec + time->tv_nsec) % 1000000000;
  return CondTimedWait(cond, mutex, &until);
}

// Read-write locks: 8 and 192.
struct Rwlock {
  std::atomic<std::int64_t> signature;
  alignas(8) char host[192];
  pthread_rwlock_t* get() { return reinterpret_cast<pthread_rwlock_t*>(host); }
};
pthread_rwlock_t* Ready(Rwlock* lock) {
  for (;;) {
    std::int64_t seen = lock->signature;
    if (seen == kReady)
      return lock->get();
    if (seen != kMaking &&
        lock->signature.compare_exchange_strong(seen, kMaking)) {
      pthread_rwlock_init(lock->get(), nullptr);
      lock->signature = kReady;
    }
  }
}
int RwInit(Rwlock* lock, const void*) {
  lock->signature = darwin::kRwlockSignature;
  Ready(lock);
  return 0;
}
int RwDestroy(Rwlock*) {
  return 0;
}
int RwRead(Rwlock* lock) {
  return DarwinError(pthread_rwlock_rdlock(Ready(lock)));
}
int RwWrite(Rwlock* lock) {
  return DarwinError(pthread_rwlock_wrlock(Ready(lock)));
}
int RwUnlock(Rwlock* lock) {
  return DarwinError(pthread_rwlock_unlock(Ready(lock)));
}

struct Once {
  std::atomic<std::int64_t> signature;
  char rest[8];
};
int RunOnce(Once* once, void (*routine)()) {
  constexpr std::int64_t kDone = 0x4f4e4345, kRunning = 0x4f4e4346;
  for (;;) {
    std::int64_t seen = once->signature;
    if (seen == kDone)
      return 0;
    if (seen == kRunning) {
      sched_yield();
    } else if (once->signature.compare_exchange_strong(seen, kRunning)) {
      routine();
      once->signature = kDone;
      return 0;
    }
  }
}

// os_unfair_lock: one word, the owner's thread port name.
int UnfairTryLock(std::atomic<std::uint32_t>* lock) {
  std::uint32_t free = 0;
  return lock->compare_exchange_strong(free, Self()->port) ? 1 : 0;
}
void UnfairLock(std::atomic<std::uint32_t>* lock) {
  while (UnfairTryLock(lock) == 0)
    sched_yield();
}
void UnfairUnlock(std::atomic<std::uint32_t>* lock) {
  *lock = 0;
}

int KeyCreate(std::uint64_t* key, void (*destructor)(void*)) {
  pthread_key_t made = 0;
  const int error = pthread_key_create(&made, destructor);
  *key = made + 256u;
  return DarwinError(error);
}
int KeyDelete(std::uint64_t key) {
  return pthread_key_delete(static_cast<pthread_key_t>(key - 256));
}
void* GetSpecific(std::uint64_t key) {
  return pthread_getspecific(static_cast<pthread_key_t>(key - 256));
}
int SetSpecific(std::uint64_t key, const void* value) {
  return DarwinError(
      pthread_setspecific(static_cast<pthread_key_t>(key - 256), value));
}

std::uint32_t MachThread(pthread_t handle) {
  const KernelScope scope;
  const Thread* thread = FindThreadByHandle(handle);
  return thread == nullptr ? 0 : thread->port;
}
pthread_t FromMachThread(std::uint32_t port) {
  const KernelScope scope;
  const Thread* thread = FindThreadByPort(port);
  return thread == nullptr ? 0 : thread->handle;
}
int ThreadId(pthread_t handle, std::uint64_t* id) {
  if (handle == 0)
    return *id = Self()->id, 0;
  const KernelScope scope;
  const Thread* thread = FindThreadByHandle(handle);
  if (thread == nullptr)
    return 3;
  *id = thread->id;
  return 0;
}
int SetName(const char* name) {
  std::snprintf(Self()->name, sizeof Self()->name, "%s", name);
  char shortened[16];
  std::snprintf(shortened, sizeof shortened, "%s", name);
  return pthread_setname_np(pthread_self(), shortened);
}
int GetName(pthread_t handle, char* name, std::size_t size) {
  const KernelScope scope;
  const Thread* thread = FindThreadByHandle(handle);
  if (thread == nullptr)
    return 3;
  std::snprintf(name, size, "%s", thread->name);
  return 0;
}
// The highest address, as Darwin's headers say.
void* StackAddress(pthread_t handle) {
  const KernelScope scope;
  const Thread* thread = FindThreadByHandle(handle);
  return thread == nullptr ? nullptr
                           : reinterpret_cast<void*>(thread->stack_top);
}
std::size_t StackSize(pthread_t handle) {
  const KernelScope scope;
  const Thread* thread = FindThreadByHandle(handle);
  return thread == nullptr ? 0 : thread->stack_size;
}
int MainThread() {
  return Self()->tid == getpid() ? 1 : 0;
}
void YieldThread() {
  sched_yield();
}

}  // namespace

MACH_SHIM("_pthread_introspection_hook_install", InstallHook);
MACH_SHIM("_pthread_create", Create);
MACH_SHIM("_pthread_attr_init", AttrInit);
MACH_SHIM("_pthread_attr_destroy", AttrDestroy);
MACH_SHIM("_pthread_attr_setstacksize", AttrSetStackSize);
MACH_SHIM("_pthread_attr_getstacksize", AttrGetStackSize);
MACH_SHIM("_pthread_attr_setdetachstate", AttrSetDetach);
MACH_SHIM("_pthread_attr_setguardsize", AttrSetGuardSize);
MACH_SHIM("_pthread_attr_setstack", AttrSetStack);
MACH_SHIM("_pthread_join", Join);
MACH_SHIM("_pthread_detach", pthread_detach);
MACH_SHIM("_pthread_exit", pthread_exit);
MACH_SHIM("_pthread_self", pthread_self);
MACH_SHIM("_pthread_equal", pthread_equal);
MACH_SHIM("_pthread_atfork", pthread_atfork);
MACH_SHIM("_pthread_mutexattr_init", MutexAttrInit);
MACH_SHIM("_pthread_mutexattr_destroy", MutexAttrDestroy);
MACH_SHIM("_pthread_mutexattr_settype", MutexAttrSetType);
MACH_SHIM("_pthread_mutex_init", MutexInit);
MACH_SHIM("_pthread_mutex_destroy", MutexDestroy);
MACH_SHIM("_pthread_mutex_lock", MutexLock);
MACH_SHIM("_pthread_mutex_trylock", MutexTryLock);
MACH_SHIM("_pthread_mutex_unlock", MutexUnlock);
MACH_SHIM("_pthread_cond_init", CondInit);
MACH_SHIM("_pthread_cond_destroy", CondDestroy);
MACH_SHIM("_pthread_cond_signal", CondSignal);
MACH_SHIM("_pthread_cond_broadcast", CondBroadcast);
MACH_SHIM("_pthread_cond_wait", CondWait);
MACH_SHIM("_pthread_cond_timedwait", CondTimedWait);
MACH_SHIM("_pthread_cond_timedwait_relative_np", CondTimedWaitRelative);
MACH_SHIM("_pthread_rwlock_init", RwInit);
MACH_SHIM("_pthread_rwlock_destroy", RwDestroy);
MACH_SHIM("_pthread_rwlock_rdlock", RwRead);
MACH_SHIM("_pthread_rwlock_wrlock", RwWrite);
MACH_SHIM("_pthread_rwlock_unlock", RwUnlock);
MACH_SHIM("_pthread_once", RunOnce);
MACH_SHIM("_os_unfair_lock_lock", UnfairLock);
MACH_SHIM("_os_unfair_lock_trylock", UnfairTryLock);
MACH_SHIM("_os_unfair_lock_unlock", UnfairUnlock);
MACH_SHIM("_pthread_key_create", KeyCreate);
MACH_SHIM("_pthread_key_delete", KeyDelete);
MACH_SHIM("_pthread_getspecific", GetSpecific);
MACH_SHIM("_pthread_setspecific", SetSpecific);
MACH_SHIM("_pthread_mach_thread_np", MachThread);
MACH_SHIM("_pthread_from_mach_thread_np", FromMachThread);
MACH_SHIM("_pthread_threadid_np", ThreadId);
MACH_SHIM("_pthread_setname_np", SetName);
MACH_SHIM("_pthread_getname_np", GetName);
MACH_SHIM("_pthread_get_stackaddr_np", StackAddress);
MACH_SHIM("_pthread_get_stacksize_np", StackSize);
MACH_SHIM("_pthread_main_np", MainThread);
MACH_SHIM("_pthread_yield_np", YieldThread);

}  // namespace mach_host
