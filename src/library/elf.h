/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Checks that the file of a shared object is complete. The system's loader maps whatever the headers describe without
 * checking the length of the file; the first access to a missing part raises SIGBUS. */
#ifndef LIBRARY_ELF_H
#define LIBRARY_ELF_H

#include <stdint.h>

/* Returns the number of bytes that an ELF file must have for what its headers describe: segments and the table of
 * sections. Returns 0 if it is not an ELF file of this machine's class and byte order, or if its headers cannot be
 * read; the loader detects both. */
uint64_t elf_needs(int fd, uint64_t size);

#endif
