# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# Joins src/draw/page/* to the page that `xir view` writes, and makes a C file of it: the text before the network's data
# and the text after it. Run as a script: cmake -DFOLDER=… -DOUT=….c -P XirPage.cmake
#
# The page may run its own script and use its own styles, and nothing else: its policy has the hashes of both.

set(scripts text theme data layout scene heat paint view search tree panel go export constants keys pointer main)

# Sets `out` to the base64 of a text of hexadecimal digits.
function(xir_base64 out hex)
    set(letters ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/)
    string(LENGTH ${hex} length)
    set(text "")
    set(at 0)
    while(at LESS length)
        string(SUBSTRING "${hex}0000" ${at} 6 digits)
        math(EXPR left "(${length} - ${at}) / 2")
        foreach(shift IN ITEMS 18 12 6 0)
            math(EXPR letter "(0x${digits} >> ${shift}) & 63")
            if((shift EQUAL 6 AND left LESS 2) OR (shift EQUAL 0 AND left LESS 3))
                string(APPEND text "=")
            else()
                string(SUBSTRING ${letters} ${letter} 1 letter)
                string(APPEND text ${letter})
            endif()
        endforeach()
        math(EXPR at "${at} + 6")
    endwhile()
    set(${out} "${text}" PARENT_SCOPE)
endfunction()

function(xir_hash out text)
    string(SHA256 hex "${text}")
    xir_base64(base64 ${hex})
    set(${out} "'sha256-${base64}'" PARENT_SCOPE)
endfunction()

# Writes a text as a C array.
function(xir_array name text)
    file(WRITE ${OUT}.${name} "${text}")
    file(READ ${OUT}.${name} hex HEX)
    file(REMOVE ${OUT}.${name})
    string(REGEX REPLACE "(..)" "0x\\1," hex "${hex}")
    string(REGEX REPLACE "((0x..,)(0x..,)(0x..,)(0x..,)(0x..,)(0x..,)(0x..,)(0x..,))" "\\1\n" hex "${hex}")
    file(APPEND ${OUT} "const unsigned char ${name}[] = {\n${hex}\n};\nconst size_t ${name}_size = sizeof ${name};\n")
endfunction()

# Comments and indentation stay in the source.
set(script "'use strict';\n")
foreach(name IN LISTS scripts)
    file(READ ${FOLDER}/${name}.js text)
    string(REGEX REPLACE "\n +" "\n" text "\n${text}")
    string(REGEX REPLACE "\n//[^\n]*" "" text "${text}")
    string(REGEX REPLACE " +// [^\n]*\n" "\n" text "${text}")
    string(APPEND script "${text}")
endforeach()
string(REGEX REPLACE "\n\n+" "\n" script "${script}")
# Blanks around an operator and in braces stay there, too. No text in the scripts has one of these between blanks.
string(REGEX REPLACE " (=>|===|!==|&&|\\|\\||[<>+*/-]?=|[-<>?:*/+]) " "\\1" script "${script}")
string(REGEX REPLACE "{ " "{" script "${script}")
string(REGEX REPLACE " }" "}" script "${script}")
string(REGEX REPLACE "\\) {" "){" script "${script}")
file(READ ${FOLDER}/page.css style)
string(REGEX REPLACE "/\\*[^*]*\\*/" "" style "${style}")
string(REGEX REPLACE "\n[ \n]*" "\n" style "${style}")
string(REGEX REPLACE "([:;,]) " "\\1" style "${style}")
string(REGEX REPLACE " {" "{" style "${style}")

xir_hash(script_hash "${script}")
xir_hash(style_hash "${style}")
file(READ ${FOLDER}/page.html page)
string(REGEX REPLACE "\n +" "\n" page "${page}")
string(REPLACE "@POLICY@" "default-src 'none'; script-src ${script_hash}; style-src ${style_hash}; \
base-uri 'none'; form-action 'none'" page "${page}")
string(REPLACE "@STYLE@" "${style}" page "${page}")
string(FIND "${page}" "@DATA@" at)
string(SUBSTRING "${page}" 0 ${at} before)
math(EXPR at "${at} + 6")
string(SUBSTRING "${page}" ${at} -1 after)
string(REPLACE "@SCRIPT@" "${script}" after "${after}")

file(WRITE ${OUT} "/* Made by cmake/XirPage.cmake from src/draw/page. */\n#include \"html_page.h\"\n\n")
xir_array(draw_page_before "${before}")
xir_array(draw_page_after "${after}")
