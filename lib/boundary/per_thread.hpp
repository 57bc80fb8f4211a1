// Thread-local storage for one object per thread. The object is destroyed when the thread ends, and that of the main
// thread when the process exits. thread_local is not used, because the C library allocates memory to register its
// destructor and terminates the process if it cannot.
#pragma once

#include <pthread.h>

#include <memory>
#include <new>

namespace cudaopt {

// Objects of this class must have static storage duration, because the key of the thread-local storage is never
// deleted.
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
    // Stores the object and returns true, or returns false if that is impossible. It does not delete the previous
    // object.
    bool set(T *object) { return good_ && pthread_setspecific(key_, object) == 0; }
    // Returns the object of this thread, after creating it by the default constructor if there is none.
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
