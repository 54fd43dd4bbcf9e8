/* A page load: its objects one after another, over one connection at a time. */
#ifndef LOAD_H
#define LOAD_H

#include <openssl/evp.h>
#include <stdint.h>

#include "link.h"

struct object {
    char path[LONGEST_PATH];
    bool told; /* the server has told the length */
    uint64_t length, received;
    double start_s, first_byte_s, end_s; /* since the load's start */
    unsigned char hash[EVP_MAX_MD_SIZE];
};

struct load {
    const struct settings *settings;
    SSL_CTX *context;
    struct link *link;
    struct object *objects;
    size_t count;
    bool hashed;
    double begun; /* of now_s() */
    int moves, moved;
    bool moving;
    int connections;
    unsigned char *buffer; /* CHUNK bytes */
};

/* Fetches every object; the first has been asked for already if `asked`. Ends the program on failure. */
void fetch_all(struct load *load, bool asked);
/* The line that asks for an object from byte `first` on. */
void write_request(char line[LONGEST_REQUEST], const char *path, uint64_t first);

#endif
