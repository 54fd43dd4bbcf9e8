/* page-client: load one page by libcurl as an HTTP/1.1, HTTP/2 or HTTP/3 client would, and time it. */
#include <openssl/ssl.h>
#include <stdio.h>
#include <string.h>

#include "contract/aes.h"
#include "contract/gate.h"
#include "page.h"

/* OpenSSL loads its algorithms on first use: have that done before the clock starts. */
static void warm_up(void) {
  SSL_CTX *context = SSL_CTX_new(TLS_client_method());
  if (!context) quit(EXIT_FAILURE, "OpenSSL does not start");
  SSL_CTX_free(context);
}

int main(int argc, char **argv) {
  if (argc == 2 && strcmp(argv[1], "--version") == 0) {
    puts(curl_version());
    return EXIT_SUCCESS;
  }
  struct settings settings;
  struct page page;
  name_program("page-client");
  choose_aes(argv);
  read_settings(&settings);
  if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) quit(EXIT_FAILURE, "libcurl does not start");
  warm_up();
  page_prepare(&page, &settings);
  gate_pass();
  page_load(&page);
  page_write(&page);
  page_free(&page);
  curl_global_cleanup();
  return EXIT_SUCCESS;
}
