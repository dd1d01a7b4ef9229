# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# The commit that is built: XIR_COMMIT ("v0.1.0-5-g3ded0cd", or the hash alone if no tag precedes it; "-dirty" follows
# if files have changed) and XIR_DATE, the day of the commit. A checkout is asked, if git is installed. In a source
# archive git has put both in place of the words in commit.txt. Otherwise XIR_COMMIT is empty, and the day is today, or
# that of SOURCE_DATE_EPOCH.
#
# As a script (cmake -DTOP=… -DOUT=… -P), which runs with every build, it writes them to the header OUT if they differ.

if(NOT TOP)
    set(TOP ${CMAKE_CURRENT_LIST_DIR}/..)
endif()
set(XIR_COMMIT "")
set(XIR_DATE "")
file(STRINGS ${TOP}/cmake/commit.txt words LIMIT_COUNT 1)
if(words MATCHES "^([0-9a-f]+) ([0-9-]+) *([^ ]*)$")
    set(XIR_COMMIT ${CMAKE_MATCH_1})
    set(XIR_DATE ${CMAKE_MATCH_2})
    if(CMAKE_MATCH_3)
        set(XIR_COMMIT ${CMAKE_MATCH_3})
    endif()
elseif(EXISTS ${TOP}/.git)
    find_program(XIR_GIT git)
    mark_as_advanced(XIR_GIT)
    if(XIR_GIT)
        get_filename_component(above ${TOP}/.. REALPATH)    # whose repository is another one
        set(git ${CMAKE_COMMAND} -E env GIT_OPTIONAL_LOCKS=0 GIT_CEILING_DIRECTORIES=${above} ${XIR_GIT} -C ${TOP})
        execute_process(COMMAND ${git} describe --tags --match v* --always --dirty
            OUTPUT_VARIABLE XIR_COMMIT OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
        execute_process(COMMAND ${git} log -1 --format=%cs
            OUTPUT_VARIABLE XIR_DATE OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    endif()
endif()
if(NOT XIR_DATE MATCHES "^[0-9]+-[0-9]+-[0-9]+$")    # a git that does not trust the folder prints nothing
    string(TIMESTAMP XIR_DATE "%Y-%m-%d" UTC)
endif()
if(OUT)
    file(CONFIGURE OUTPUT ${OUT} CONTENT "#define XIR_COMMIT \"${XIR_COMMIT}\"\n#define XIR_DATE \"${XIR_DATE}\"\n")
endif()
