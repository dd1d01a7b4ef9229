# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# Products of the comments of the public headers: manual pages of section 3, with everything else, where Perl is;
# and with the target `reference`, where Doxygen is too, a reference to be read in a browser: docs/reference.md.

find_program(XIR_PERL perl)
mark_as_advanced(XIR_PERL)
set(XIR_SCRIPTS ${PROJECT_SOURCE_DIR}/scripts/reference)
file(GLOB XIR_HEADERS CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/xir/*.h)

set(XIR_MAN3 "")
if(XIR_PERL)
    set(XIR_MAN3 ${PROJECT_BINARY_DIR}/man3)
    add_custom_command(OUTPUT ${XIR_MAN3}/xir_network.h.3
        COMMAND ${XIR_PERL} ${XIR_SCRIPTS}/man.pl ${PROJECT_SOURCE_DIR}/include ${XIR_MAN3} ${PROJECT_VERSION}
            ${XIR_DATE}
        DEPENDS ${XIR_HEADERS} ${XIR_SCRIPTS}/man.pl ${XIR_SCRIPTS}/headers.pm ${XIR_SCRIPTS}/filter.pl
        COMMENT "Writing manual pages of the headers" VERBATIM)
    add_custom_target(xir_man3 ALL DEPENDS ${XIR_MAN3}/xir_network.h.3)
else()
    message(STATUS "xir: no manual pages of the headers, perl not found")
endif()

add_custom_target(reference
    COMMAND sh ${XIR_SCRIPTS}/build.sh ${PROJECT_BINARY_DIR}/reference ${PROJECT_VERSION}
    COMMENT "Building the reference, ${PROJECT_BINARY_DIR}/reference/html/index.html" VERBATIM)
