/* How many cases random tests try. Under a sanitizer, where every access is checked and takes five times as long,
 * they try a fifth. */
#ifndef SUPPORT_OFTEN_H
#define SUPPORT_OFTEN_H

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define OFTEN(n) ((n) / 5)
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define OFTEN(n) ((n) / 5)
#endif
#endif
#ifndef OFTEN
#define OFTEN(n) (n)
#endif

#endif
