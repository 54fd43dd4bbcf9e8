#include "settings.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum { NOT_SUPPORTED = 127 };

static const char *program_name = "tls";

void fail(const char *format, ...) {
    va_list values;
    va_start(values, format);
    fprintf(stderr, "%s: ", program_name);
    vfprintf(stderr, format, values);
    fputc('\n', stderr);
    va_end(values);
    exit(EXIT_FAILURE);
}

void not_supported(const char *variable, const char *value) {
    fprintf(stderr, "%s: not supported: %s=%s\n", program_name, variable, value);
    exit(NOT_SUPPORTED);
}

const char *required(const char *name) {
    const char *value = getenv(name);
    if (value == NULL || *value == '\0') {
        fail("%s is not set (docs/formats.md, section 2)", name);
    }
    return value;
}

int supported(const char *name, const char *const *known) {
    const char *value = required(name);
    for (int index = 0; known[index] != NULL; index++) {
        if (strcmp(value, known[index]) == 0) {
            return index;
        }
    }
    not_supported(name, value);
}

long number(const char *name, long low, long high, long fallback) {
    if (fallback >= 0 && getenv(name) == NULL) {
        return fallback;
    }
    const char *value = required(name);
    char *end = NULL;
    errno = 0;
    long parsed = strtol(value, &end, 10);
    if (errno != 0 || *end != '\0' || parsed < low || parsed > high) {
        fail("%s: '%s' is not a whole number from %ld to %ld", name, value, low, high);
    }
    return parsed;
}

bool is_true(const char *name) {
    const char *value = required(name);
    bool yes = strcasecmp(value, "true") == 0;
    if (!yes && strcasecmp(value, "false") != 0) {
        fail("%s: '%s' is neither true nor false", name, value);
    }
    return yes;
}

/* OpenSSL learns what the processor can do before main() begins, and can be told what to overlook only in
 * its environment: AES and carry-less multiplication (CPUID 1, ECX bits 25 and 1), and their wide forms VAES
 * and VPCLMULQDQ (CPUID 7, ECX bits 9 and 10; OPENSSL_ia32cap(3)). What is left computes AES with SSSE3. */
static void forget_aes(char **argv) {
#if defined(__x86_64__)
    static const char mask[] = "~0x200000200000000:~0x60000000000";
    const char *now = getenv("OPENSSL_ia32cap");
    if (now != NULL && strcmp(now, mask) == 0) {
        return;
    }
    setenv("OPENSSL_ia32cap", mask, 1);
    execv("/proc/self/exe", argv);
    fail("cannot start anew without AES instructions: %s", strerror(errno));
#else
    (void)argv;
    not_supported("OPTION_AES_ACCELERATION", "false");
#endif
}

static struct sockaddr_in server_address(void) {
    struct sockaddr_in address = {.sin_family = AF_INET};
    const char *text = required("ADDRESS");
    if (inet_pton(AF_INET, text, &address.sin_addr) != 1) {
        fail("ADDRESS: '%s' is not an IPv4 address", text);
    }
    address.sin_port = htons((uint16_t)number("PORT", 1, UINT16_MAX, -1));
    return address;
}

static const char *suite(void) {
    static const char *const names[] = {"default", "aes128", "aes256", "chacha20", NULL};
    static const char *const suites[] = {NULL, "TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384",
                                         "TLS_CHACHA20_POLY1305_SHA256"};
    return suites[supported("OPTION_CIPHER", names)];
}

struct settings read_settings(const char *program, char **argv) {
    static const char *const protocols[] = {"tls", NULL};
    static const char *const connections[] = {"cold", "resumed", "0rtt", NULL};
    static const char *const groups[] = {"X25519", "P-256", "P-384", "X25519MLKEM768", NULL};
    program_name = program;
    supported("PROTOCOL", protocols);
    const char *key_log = getenv("SSLKEYLOGFILE");
    struct settings settings = {
        .program = program,
        .connection = (enum connection)supported("CONNECTION", connections),
        .host = required("HOST"),
        .certs = required("CERTS"),
        .key_log = key_log != NULL && *key_log != '\0' ? key_log : NULL,
        .address = server_address(),
        .suite = suite(),
        .group = groups[supported("OPTION_GROUP", groups)],
        .verify = is_true("OPTION_VERIFY"),
        .socket_buffer = (int)number("OPTION_SOCKET_BUFFER_BYTES", 0, 1 << 30, -1),
        .patience_ms = 1000 * (int)number("OPTION_IDLE_TIMEOUT_S", 1, 3600, -1),
    };
    if (!is_true("OPTION_AES_ACCELERATION")) {
        forget_aes(argv);
    }
    return settings;
}
