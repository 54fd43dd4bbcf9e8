#include "load.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "contract/gate.h"

void write_request(char line[LONGEST_REQUEST], const char *path, uint64_t first) {
    if (first == 0) {
        snprintf(line, LONGEST_REQUEST, "GET %s\n", path);
    } else {
        snprintf(line, LONGEST_REQUEST, "GET %s %" PRIu64 "\n", path, first);
    }
}

static void move_if_due(struct load *load) {
    struct progress progress = {.count = load->asked.count, .moves = load->asked.moves, .begun = load->moved};
    for (int index = 0; index < load->asked.count; index++) {
        const struct object *object = &load->objects[index];
        progress.received += (double)object->received;
        progress.known += object->told ? (double)object->length : 0;
        progress.told += object->told;
    }
    if (load->moving || !move_is_due(&progress)) {
        return;
    }
    gate_ask_to_move();
    load->moving = true;
    load->link->watched = STDIN_FILENO;
}

/* Goes on from the address that the line on stdin tells, by a new connection and a full handshake. */
static void change_address(struct load *load, const struct object *object) {
    char text[INET_ADDRSTRLEN], request[LONGEST_REQUEST];
    struct in_addr local = gate_moved();
    inet_ntop(AF_INET, &local, text, sizeof text);
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
        if (load->asked.hashed) {
            EVP_DigestUpdate(digest, load->buffer, taken);
        }
        move_if_due(load);
    }
    return true;
}

static void write_hash(char hash[2 * EVP_MAX_MD_SIZE + 1], EVP_MD_CTX *digest) {
    unsigned char bytes[EVP_MAX_MD_SIZE];
    unsigned int length = 0;
    EVP_DigestFinal_ex(digest, bytes, &length);
    for (unsigned int index = 0; index < length; index++) {
        sprintf(hash + 2 * index, "%02x", bytes[index]);
    }
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
    write_hash(object->hash, digest);
    EVP_MD_CTX_free(digest);
}

void fetch_all(struct load *load, bool asked) {
    for (int index = 0; index < load->asked.count; index++) {
        fetch(load, &load->objects[index], asked && index == 0);
    }
}
