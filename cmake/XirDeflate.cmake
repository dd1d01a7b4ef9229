# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# Makes xir::deflate, the library libdeflate, if it is installed. Its CMake package is missing in many distributions.

find_path(XIR_DEFLATE_INCLUDE_DIR libdeflate.h)
find_library(XIR_DEFLATE_LIBRARY NAMES deflate)
mark_as_advanced(XIR_DEFLATE_INCLUDE_DIR XIR_DEFLATE_LIBRARY)
if(XIR_DEFLATE_INCLUDE_DIR AND XIR_DEFLATE_LIBRARY AND NOT TARGET xir::deflate)
    add_library(xir::deflate UNKNOWN IMPORTED)
    set_target_properties(xir::deflate PROPERTIES
        IMPORTED_LOCATION "${XIR_DEFLATE_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${XIR_DEFLATE_INCLUDE_DIR}")
endif()
