" SPDX-License-Identifier: Apache-2.0
" SPDX-FileCopyrightText: XIR contributors

" Texts of XIR
autocmd BufRead,BufNewFile *.xir setfiletype xir
