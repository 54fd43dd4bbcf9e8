/* A page load: its objects one after another, over one connection at a time. */
#ifndef LOAD_H
#define LOAD_H

#include <openssl/evp.h>
#include <stdint.h>

#include "link.h"

struct object {
    const char *path;
    bool told; /* the server has told the length */
    uint64_t length, received;
    double start_s, first_byte_s, end_s; /* since the load's start */
    char hash[2 * EVP_MAX_MD_SIZE + 1]; /* in hexadecimal; empty: bodies are only counted */
};

struct load {
    const struct settings *settings;
    SSL_CTX *context;
    struct link *link;
    struct asked asked;
    struct object *objects; /* asked.count of them */
    double begun; /* of now_s() */
    int moved;
    bool moving;
    int connections;
    unsigned char *buffer; /* CHUNK bytes */
};

/* Fetches every object; the first has been asked for already if `asked`. Ends the program on failure. */
void fetch_all(struct load *load, bool asked);
/* The line that asks for an object from byte `first` on. */
void write_request(char line[LONGEST_REQUEST], const char *path, uint64_t first);

#endif
