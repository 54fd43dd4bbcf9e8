/* OpenSSL as both roles use it. */
#ifndef SECURE_H
#define SECURE_H

#include <openssl/ssl.h>

#include "settings.h"

enum {
    /* What is read or written at once: many records, so that system calls do not limit the rate. */
    CHUNK = 1 << 18,
    LENGTH_BYTES = 8, /* in front of every answer, big-endian */
    LONGEST_PATH = 4096,
    LONGEST_REQUEST = LONGEST_PATH + 64,
};

/* Takes the place of the length in an answer where there is no object. */
#define NO_SUCH_OBJECT UINT64_MAX
/* Answered by every server; fetched to be given a session ticket. */
#define PRIME_PATH "/prime"
#define PRIME_BODY "primed\n"

SSL_CTX *new_context(const struct settings *settings, const SSL_METHOD *method, const char *groups);
/* A TCP socket with the options of the settings. */
int new_socket(const struct settings *settings);
/* An SSL over a connected socket that hands many records to the kernel at once. */
SSL *new_ssl(SSL_CTX *context, int socket);
/* Why the library's last call failed. */
const char *library_reason(void);
/* Prints the version of the library that will run, and returns whether argv asked for it. */
bool print_version(char **argv);

#endif
