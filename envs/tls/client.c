/* Loads objects by TLS 1.3 over TCP, one after another on one connection. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "load.h"

static void print_object(FILE *file, const struct load *load, const struct object *object) {
    fputs("{\"path\": \"", file);
    for (const char *at = object->path; *at != '\0'; at++) {
        fprintf(file, *at == '"' || *at == '\\' ? "\\%c" : "%c", *at);
    }
    fprintf(file, "\", \"status\": 200, \"bytes\": %llu, \"sha256\": ", (unsigned long long)object->received);
    if (load->hashed) {
        fputc('"', file);
        for (int index = 0; index < EVP_MD_get_size(EVP_sha256()); index++) {
            fprintf(file, "%02x", object->hash[index]);
        }
        fputc('"', file);
    } else {
        fputs("null", file);
    }
    fprintf(file, ", \"start_s\": %.9f, \"first_byte_s\": %.9f, \"end_s\": %.9f}", object->start_s,
            object->first_byte_s, object->end_s);
}

static const char *cipher_name(const SSL *ssl) {
    const char *name = SSL_get_cipher_name(ssl);
    return strstr(name, "CHACHA20") ? "chacha20" : strstr(name, "AES_256") ? "aes256" : "aes128";
}

static const char *group_name(SSL *ssl) {
    const char *name = SSL_get0_group_name(ssl);
    if (name == NULL) {
        return "";
    }
    return strcmp(name, "x25519") == 0      ? "X25519"
           : strcmp(name, "secp256r1") == 0 ? "P-256"
           : strcmp(name, "secp384r1") == 0 ? "P-384"
                                            : name;
}

/* What is told of the first connection, which a change of address may have ended by the time it is written. */
struct facts {
    double handshake_s;
    bool resumed, early;
    const char *cipher, *group;
};

static void write_timing(const char *path, const struct load *load, double start, const struct facts *facts) {
    FILE *file = fopen(path, "w");
    if (file == NULL) {
        fail("TIMING: %s cannot be written", path);
    }
    fprintf(file, "{\"protocol\": \"tls\", \"start\": %.9f, \"handshake_s\": %.9f, \"resumed\": %s, ", start,
            facts->handshake_s, facts->resumed ? "true" : "false");
    fprintf(file, "\"early_data\": %s, \"connections\": %d, ", facts->early ? "true" : "false",
            load->connections);
    fprintf(file, "\"negotiated\": {\"cipher\": \"%s\", \"group\": \"%s\"}, ", facts->cipher, facts->group);
    if (load->moves > 0) {
        fprintf(file, "\"metrics\": {\"moves_followed\": %d}, ", load->moved);
    }
    fputs("\"objects\": [", file);
    for (size_t index = 0; index < load->count; index++) {
        fputs(index > 0 ? ", " : "", file);
        print_object(file, load, &load->objects[index]);
    }
    fputs("]}\n", file);
    if (ferror(file) != 0 || fclose(file) != 0) {
        fail("TIMING: %s cannot be written", path);
    }
}

/* Takes the paths of REQUESTS, all on HOST. */
static void read_requests(struct load *load) {
    static const char scheme[] = "https://";
    char *text = strdup(required("REQUESTS"));
    size_t host = strlen(load->settings->host);
    load->objects = calloc(strlen(text) / 2 + 1, sizeof *load->objects);
    if (load->objects == NULL) {
        fail("out of memory");
    }
    for (char *word = strtok(text, " "); word != NULL; word = strtok(NULL, " ")) {
        const char *at = word + strlen(scheme);
        const char *path = strncmp(word, scheme, strlen(scheme)) == 0 ? strchr(at, '/') : NULL;
        if (path == NULL || strncmp(at, load->settings->host, host) != 0 ||
            (at[host] != ':' && at[host] != '/') || strlen(path) >= LONGEST_PATH) {
            fail("REQUESTS: %s is not https://%s/…", word, load->settings->host);
        }
        strcpy(load->objects[load->count++].path, path);
    }
    free(text);
}

static struct load read_load(const struct settings *settings) {
    static const char *const ways[] = {"reconnect", NULL};
    const char *body = getenv("BODY");
    struct load load = {.settings = settings, .hashed = body == NULL || strcmp(body, "length") != 0};
    read_requests(&load);
    load.moves = (int)number("MOVES", 0, 1000, 0);
    supported("OPTION_ON_MOVE", ways);
    load.buffer = malloc(CHUNK);
    if (load.buffer == NULL) {
        fail("out of memory");
    }
    return load;
}

static void pass_gate(void) {
    char line[64] = "";
    /* Lines must come one at a time, as the next one is waited for together with the connection. */
    setvbuf(stdin, NULL, _IONBF, 0);
    puts("ready");
    fflush(stdout);
    if (fgets(line, sizeof line, stdin) == NULL || strcmp(line, "go\n") != 0) {
        fail("stdin: expected the line 'go', got '%.*s'", (int)strcspn(line, "\n"), line);
    }
}

/* Fetches /prime on a connection of its own, with which a session ticket comes. */
static void prime(struct load page) {
    struct object object = {.path = PRIME_PATH};
    page.link = open_link(page.settings, page.context, NULL, NULL, NULL);
    if (page.link == NULL) {
        fail("priming connection: %s", why_broken());
    }
    page.objects = &object;
    page.count = 1;
    page.moves = 0;
    fetch_all(&page, false);
    close_link(page.link, true);
}

static struct facts load_page(struct load *load, SSL_SESSION *session, double *start) {
    char request[LONGEST_REQUEST];
    struct timespec clock;
    bool early = load->settings->connection == EARLY;
    write_request(request, load->objects[0].path, 0);
    clock_gettime(CLOCK_REALTIME, &clock);
    *start = (double)clock.tv_sec + (double)clock.tv_nsec * 1e-9;
    load->begun = now_s();
    load->link = open_link(load->settings, load->context, session, NULL, early ? request : NULL);
    if (load->link == NULL) {
        fail("%s", why_broken());
    }
    SSL *ssl = load->link->ssl;
    bool accepted = SSL_get_early_data_status(ssl) == SSL_EARLY_DATA_ACCEPTED;
    struct facts facts = {load->link->handshake_s, SSL_session_reused(ssl) == 1, accepted, cipher_name(ssl),
                          group_name(ssl)};
    load->connections = 1;
    fetch_all(load, accepted);
    close_link(load->link, true);
    return facts;
}

int main(int argc, char **argv) {
    (void)argc;
    if (print_version(argv)) {
        return EXIT_SUCCESS;
    }
    struct settings settings = read_settings("tls client", argv);
    const char *timing = required("TIMING");
    struct load load = read_load(&settings);
    SSL_SESSION *newest = NULL;
    load.context = client_context(&settings, &newest);
    if (settings.connection != COLD) {
        prime(load);
        if (newest == NULL) {
            fail("priming connection: the server gave no session ticket");
        }
    }
    SSL_SESSION *session = newest;
    newest = NULL; /* Tickets that come from now on are of no use. */
    pass_gate();
    double start = 0;
    struct facts facts = load_page(&load, session, &start);
    write_timing(timing, &load, start, &facts);
    return EXIT_SUCCESS;
}
