/* SPDX-License-Identifier: Apache-2.0
 *
 * Where the unwinder finds the tables of the code that an exception passes.
 * libgcc.a of GCC 12 calls glibc's function of this name, which came with glibc
 * 2.35: a program that holds libgcc.a would start on no older system, for this
 * one symbol. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>

/* Where glibc's header has no such function, libgcc.a needs none. */
#ifdef DLFO_EH_SEGMENT_TYPE

struct search {
  uintptr_t address;
  struct dl_find_object* result;
};

/* Not 0 ends the walk: the object of the address is found. */
static int look_into(struct dl_phdr_info* info, size_t size, void* data) {
  const struct search* search = data;
  uintptr_t begin = UINTPTR_MAX, end = 0, tables = 0;
  int inside = 0;
  (void)size;
  for (size_t i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)* segment = &info->dlpi_phdr[i];
    const uintptr_t first = info->dlpi_addr + segment->p_vaddr;
    const uintptr_t last = first + segment->p_memsz;
    if (segment->p_type == DLFO_EH_SEGMENT_TYPE) tables = first;
    if (segment->p_type != PT_LOAD) continue;
    inside |= first <= search->address && search->address < last;
    if (first < begin) begin = first;
    if (last > end) end = last;
  }
  if (!inside) return 0;
  search->result->dlfo_flags = 0;
  search->result->dlfo_map_start = (void*)begin;
  search->result->dlfo_map_end = (void*)end;
  search->result->dlfo_link_map = NULL;
  search->result->dlfo_eh_frame = (void*)tables;
  return tables != 0 ? 1 : -1;
}

/* Hidden: libraries that are loaded beside this code keep glibc's. */
__attribute__((visibility("hidden"))) int _dl_find_object(
    void* address, struct dl_find_object* result) {
  struct search search = {(uintptr_t)address, result};
  return dl_iterate_phdr(look_into, &search) == 1 ? 0 : -1;
}

#endif
