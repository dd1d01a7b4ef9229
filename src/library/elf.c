/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The length that a shared object must have, from the ELF header and the program headers: see elf.h. */
#include <link.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>
#include "elf.h"

static bool read_at(int fd, uint64_t at, void *out, size_t size) {
    return at <= INT64_MAX && pread(fd, out, size, (off_t)at) == (ssize_t)size;
}

/* The end of a piece of the file; UINT64_MAX if it exceeds 64 bits. */
static uint64_t end_of(uint64_t at, uint64_t size) { return size > UINT64_MAX - at ? UINT64_MAX : at + size; }

static uint64_t greater(uint64_t a, uint64_t b) { return a > b ? a : b; }

static bool is_native(const ElfW(Ehdr) *head) {
    static const uint16_t one = 1;
    const unsigned char order = *(const unsigned char *)&one ? ELFDATA2LSB : ELFDATA2MSB;
    const unsigned char class = sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32;
    return memcmp(head->e_ident, ELFMAG, SELFMAG) == 0 && head->e_ident[EI_CLASS] == class &&
           head->e_ident[EI_DATA] == order &&
           head->e_phentsize == sizeof(ElfW(Phdr));
}

uint64_t elf_needs(int fd, uint64_t size) {
    ElfW(Ehdr) head;
    if (!read_at(fd, 0, &head, sizeof head) || !is_native(&head)) return 0;
    uint64_t needs = end_of(head.e_phoff, (uint64_t)head.e_phnum * sizeof(ElfW(Phdr)));
    if (head.e_shoff) needs = greater(needs, end_of(head.e_shoff, (uint64_t)head.e_shnum * head.e_shentsize));
    for (unsigned i = 0; i < head.e_phnum && needs <= size; i++) {
        ElfW(Phdr) segment;
        if (!read_at(fd, head.e_phoff + i * sizeof segment, &segment, sizeof segment)) return 0;
        if (segment.p_type == PT_LOAD) needs = greater(needs, end_of(segment.p_offset, segment.p_filesz));
    }
    return needs;
}
