/* AES without the processor's instructions. */
#ifndef CONTRACT_AES_H
#define CONTRACT_AES_H

/* If OPTION_AES_ACCELERATION is false, start this program anew with OpenSSL told to compute AES without the
   processor's instructions, beside what it is told to overlook already: it looks at that only once, when it is
   loaded. A program whose mask says so is not started again. */
void choose_aes(char **argv);

#endif
