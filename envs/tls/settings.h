/* The environment of docs/formats.md, section 2, checked and typed. */
#ifndef SETTINGS_H
#define SETTINGS_H

#include <stdbool.h>

#include "contract/failure.h"
#include "contract/settings.h"

struct settings {
    struct told told;
    const char *suite; /* of TLS 1.3; NULL: the library's choice */
    const char *group;
    bool verify;
    int socket_buffer; /* bytes; 0: the kernel's */
    int patience_ms;   /* without a byte, after which a connection has failed */
};

/* Ends the program with one line on stderr and status 1. */
#define fail(...) quit(EXIT_FAILURE, __VA_ARGS__)

/* Reads what both roles are told. May start the program anew, without AES instructions. */
struct settings read_settings(const char *program, char **argv);

#endif
