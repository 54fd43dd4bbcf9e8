/* The environment of docs/formats.md, section 2, checked and typed. */
#ifndef SETTINGS_H
#define SETTINGS_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdnoreturn.h>

enum connection { COLD, RESUMED, EARLY };

struct settings {
    const char *program;
    const char *host;
    const char *certs;
    const char *key_log; /* NULL: none */
    struct sockaddr_in address;
    enum connection connection;
    const char *suite; /* of TLS 1.3; NULL: the library's choice */
    const char *group;
    bool verify;
    int socket_buffer; /* bytes; 0: the kernel's */
    int patience_ms;   /* without a byte, after which a connection has failed */
};

/* Ends the program with one line on stderr; 127 says that what is asked for is not supported. */
noreturn void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
noreturn void not_supported(const char *variable, const char *value);

/* A variable that must be set. */
const char *required(const char *name);
/* The index in `known`, which NULL ends, of a variable whose other values are not supported. */
int supported(const char *name, const char *const *known);
/* A whole number from low to high; `fallback` where the variable is not set, unless that is negative. */
long number(const char *name, long low, long high, long fallback);
bool is_true(const char *name);

/* Reads what both roles are told. May start the program anew, without AES instructions. */
struct settings read_settings(const char *program, char **argv);

#endif
