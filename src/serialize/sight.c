/* Formats that XIR detects but cannot read: their files are refused by name, not with the findings of another format's
 * reader. A row is removed when a folder that reads the format is added. */
#include "format.h"

const format format_deepx = { .name = "deepx", .meaning = "DeepX IR", .suffixes = "ir" };
