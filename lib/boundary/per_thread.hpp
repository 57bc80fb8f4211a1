// An object that each thread has of its own, freed when the thread ends, or the process for the thread that ends it.
// thread_local would not do: to note a destructor the C library allocates, and ends the process where it cannot.
#pragma once

#include <pthread.h>

#include <memory>
#include <new>

namespace cudaopt {

// For objects with static storage: the key is never given back.
template <class T> class PerThread {
  public:
    PerThread() : good_(pthread_key_create(&key_, free) == 0) {}
    ~PerThread() {
        free(get());
        set(nullptr);
    }
    PerThread(const PerThread &) = delete;
    PerThread &operator=(const PerThread &) = delete;

    T *get() const { return good_ ? static_cast<T *>(pthread_getspecific(key_)) : nullptr; }
    // Whether it is kept; what was there before is forgotten.
    bool set(T *object) { return good_ && pthread_setspecific(key_, object) == 0; }
    // A default one is made where there is none.
    T &made() {
        if (!get()) {
            auto fresh = std::make_unique<T>();
            if (!set(fresh.get())) throw std::bad_alloc();
            static_cast<void>(fresh.release());
        }
        return *get();
    }

  private:
    static void free(void *object) { delete static_cast<T *>(object); }
    pthread_key_t key_{};
    const bool good_;
};

} // namespace cudaopt
