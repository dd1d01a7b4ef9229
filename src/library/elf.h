/* Whether the file of a shared object is whole. The system's loader maps what the headers speak of without asking
 * how long the file is; the first touch of what is missing raises SIGBUS. */
#ifndef LIBRARY_ELF_H
#define LIBRARY_ELF_H

#include <stdint.h>

/* Returns how many bytes an ELF file must have for what its headers speak of: segments and the table of sections. 0:
 * it is no ELF file of this machine's class and byte order, or its headers cannot be read, which the loader finds by
 * itself. */
uint64_t elf_needs(int fd, uint64_t size);

#endif
