/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The page without the data of a network: cmake/XirPage.cmake makes it from src/draw/page. */
#ifndef DRAW_HTML_PAGE_H
#define DRAW_HTML_PAGE_H

#include <stddef.h>

extern const unsigned char draw_page_before[], draw_page_after[];
extern const size_t        draw_page_before_size, draw_page_after_size;

#endif
