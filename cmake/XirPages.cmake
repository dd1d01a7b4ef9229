# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# Runs while the tree is installed, on the pages below FOLDER. A link to a public header leads to the installed one, to
# which UP is the way from the folder of the README. What is linked and not installed (sources, tests, benchmarks) stays
# as text.

file(GLOB pages ${FOLDER}/*.md ${FOLDER}/docs/*.md)
foreach(page IN LISTS pages)
    file(READ ${page} text)
    set(before "${text}")
    string(REGEX REPLACE "\\]\\(((\\.\\./)*)include/xir/" "](\\1${UP}/xir/" text "${text}")
    string(REGEX REPLACE
        "\\[([^][]*)\\]\\((\\.\\./)*(bench|cmake|plugins|python|scripts|src|tests|tools)/[^() ]*\\)"
        "\\1" text "${text}")
    if(NOT text STREQUAL before)
        file(WRITE ${page} "${text}")
    endif()
endforeach()
