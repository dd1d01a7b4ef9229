# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# The full text of the licence, which installed trees and wheels carry, is the system's copy. cmake/licence.txt has the
# identifier, by which Debian names the file.

file(STRINGS ${PROJECT_SOURCE_DIR}/cmake/licence.txt XIR_LICENCE LIMIT_COUNT 1)
find_file(XIR_LICENCE_TEXT ${XIR_LICENCE} PATHS /usr/share/common-licenses NO_DEFAULT_PATH
    DOC "The full text of the licence ${XIR_LICENCE}")
mark_as_advanced(XIR_LICENCE_TEXT)

# Installs the text in a folder; further arguments are those of install(). Without the text nothing is installed.
function(xir_install_licence folder)
    if(XIR_LICENCE_TEXT)
        install(FILES ${XIR_LICENCE_TEXT} DESTINATION ${folder} RENAME ${XIR_LICENCE} ${ARGN})
    else()
        install(CODE "message(FATAL_ERROR \"${XIR_LICENCE} is not in /usr/share/common-licenses:"
            " -DXIR_LICENCE_TEXT=FILE names the text of the licence\")" ${ARGN})
    endif()
endfunction()
