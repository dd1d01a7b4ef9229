" SPDX-License-Identifier: Apache-2.0
" SPDX-FileCopyrightText: XIR contributors

" Vim syntax of the texts of XIR: networks, .xir (docs/text.md)
if exists("b:current_syntax")
  finish
endif

syntax match   xirComment  "//.*$"
syntax match   xirCase     "^// \(opt:\|check$\|infer$\|convert:\|----$\|exact$\|stable$\|error:\|warning:\|\^\|plugin:\|target:\|bind:\|no findings$\).*$"
syntax region  xirString   start=+"+ skip=+\\.+ end=+"+ oneline
syntax match   xirEntry    "\(^\|\s\)\zs\.[a-z_]\+\>"
syntax match   xirVersion  "^xir \d\+"
syntax match   xirLabel    "%[A-Za-z0-9_./:-]*[A-Za-z0-9_./-]"
syntax match   xirParams   "@[A-Za-z0-9_./:-]*[A-Za-z0-9_./-]"
syntax match   xirAlias    "![A-Za-z0-9_./:-]*[A-Za-z0-9_./-]"
syntax match   xirId       "#-\?\d\+"
syntax match   xirString   " \zs\~\ze\( \|$\)"
syntax match   xirNumber   "[-A-Za-z0-9_.]\@<!-\?\d\+\(\.\d\+\)\?\([eE][-+]\?\d\+\)\?[A-Za-z0-9_]\@!"
syntax match   xirType     "\<\(bool\|u\?int\d\+\|fp16\|fp32\|fp64\|bf16\|tf32\|fpe7m8\|fpe6m9\|none\)\>"
syntax match   xirLayout   "[NLHWDCIOnlhwdcio*0-9]\+\ze \["
syntax match   xirClass    "[A-Za-z_][A-Za-z0-9_.:/-]*\ze("
syntax match   xirKey      "[A-Za-z_][A-Za-z0-9_.]*\ze="
syntax keyword xirWord     on as in more absent tags do end raw splat optional null true false inf nan

highlight default link xirComment  Comment
highlight default link xirCase     PreProc
highlight default link xirString   String
highlight default link xirEntry    PreProc
highlight default link xirVersion  PreProc
highlight default link xirLabel    Identifier
highlight default link xirParams   Constant
highlight default link xirAlias    Typedef
highlight default link xirId       Number
highlight default link xirNumber   Number
highlight default link xirType     Type
highlight default link xirLayout   Type
highlight default link xirClass    Function
highlight default link xirKey      Label
highlight default link xirWord     Keyword

let b:current_syntax = "xir"
