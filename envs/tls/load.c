#include "load.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void write_request(char line[LONGEST_REQUEST], const char *path, uint64_t first) {
    if (first == 0) {
        snprintf(line, LONGEST_REQUEST, "GET %s\n", path);
    } else {
        snprintf(line, LONGEST_REQUEST, "GET %s %" PRIu64 "\n", path, first);
    }
}

/* Whether change i of n is due: i/(n+1) of all bytes have come. Objects whose length the server has not told
 * yet are taken to be as long as the mean of the others. */
static bool is_move_due(const struct load *load) {
    double received = 0, known = 0, told = 0;
    for (size_t index = 0; index < load->count; index++) {
        const struct object *object = &load->objects[index];
        received += (double)object->received;
        known += object->told ? (double)object->length : 0;
        told += object->told;
    }
    if (told == 0 || load->moving || load->moved >= load->moves) {
        return false;
    }
    double total = known / told * (double)load->count;
    return received >= total * (load->moved + 1) / (load->moves + 1);
}

static void ask_for_move(struct load *load) {
    puts("move");
    fflush(stdout);
    load->moving = true;
    load->link->watched = STDIN_FILENO;
}

/* Goes on from the address that the line on stdin tells, by a new connection and a full handshake. */
static void change_address(struct load *load, const struct object *object) {
    char line[128], text[64], request[LONGEST_REQUEST];
    struct in_addr local;
    if (fgets(line, sizeof line, stdin) == NULL || sscanf(line, "moved %63s", text) != 1 ||
        inet_pton(AF_INET, text, &local) != 1) {
        fail("stdin: expected 'moved' and an address");
    }
    close_link(load->link, false);
    load->link = open_link(load->settings, load->context, NULL, &local, NULL);
    write_request(request, object->path, object->received);
    if (load->link == NULL || !send_text(load->link, request)) {
        fail("%s: from %s: %s", object->path, text, why_broken());
    }
    load->connections++;
    load->moved++;
    load->moving = false;
}

/* Reads some bytes; returns 0 if the rest has to be read from another connection's answer. */
static size_t take_some(struct load *load, struct object *object, void *into, size_t room) {
    size_t taken = 0;
    if (load->moving && load->link->watched < 0) {
        load->link->watched = STDIN_FILENO;
    }
    enum taken outcome = take(load->link, into, room, &taken);
    if (outcome == BROKEN && load->moving) {
        outcome = INTERRUPTED; /* The old address is going: what matters is where the client is next. */
    }
    if (outcome == INTERRUPTED) {
        change_address(load, object);
        return 0;
    }
    if (outcome == BROKEN) {
        fail("%s: %s", object->path, why_broken());
    }
    return taken;
}

/* Reads the length in front of an answer; false if the answer has to be awaited anew. */
static bool take_head(struct load *load, struct object *object) {
    unsigned char head[LENGTH_BYTES];
    uint64_t length = 0;
    for (size_t have = 0; have < sizeof head;) {
        size_t taken = take_some(load, object, head + have, sizeof head - have);
        if (taken == 0) {
            return false;
        }
        have += taken;
    }
    for (size_t index = 0; index < sizeof head; index++) {
        length = length << 8 | head[index];
    }
    if (length == NO_SUCH_OBJECT) {
        fail("%s: the server has no such object", object->path);
    }
    if (object->told && length != object->length - object->received) {
        fail("%s: its length has changed", object->path);
    }
    object->length = object->received + length;
    object->told = true;
    return true;
}

static bool take_body(struct load *load, struct object *object, EVP_MD_CTX *digest) {
    while (object->received < object->length) {
        uint64_t left = object->length - object->received;
        size_t taken = take_some(load, object, load->buffer, left < CHUNK ? (size_t)left : CHUNK);
        if (taken == 0) {
            return false;
        }
        object->received += taken;
        if (load->hashed) {
            EVP_DigestUpdate(digest, load->buffer, taken);
        }
        if (is_move_due(load)) {
            ask_for_move(load);
        }
    }
    return true;
}

static void fetch(struct load *load, struct object *object, bool asked) {
    EVP_MD_CTX *digest = EVP_MD_CTX_new();
    EVP_DigestInit_ex(digest, EVP_sha256(), NULL);
    if (!asked) {
        char request[LONGEST_REQUEST];
        object->start_s = now_s() - load->begun;
        write_request(request, object->path, 0);
        if (!send_text(load->link, request)) {
            fail("%s: %s", object->path, why_broken());
        }
    }
    do {
        while (!take_head(load, object)) {
        }
        if (object->first_byte_s == 0) {
            object->first_byte_s = now_s() - load->begun;
        }
    } while (!take_body(load, object, digest));
    object->end_s = now_s() - load->begun;
    EVP_DigestFinal_ex(digest, object->hash, NULL);
    EVP_MD_CTX_free(digest);
}

void fetch_all(struct load *load, bool asked) {
    for (size_t index = 0; index < load->count; index++) {
        fetch(load, &load->objects[index], asked && index == 0);
    }
}
