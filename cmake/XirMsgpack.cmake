# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# Makes xir::msgpack, the C library msgpack-c, if it is installed. The names of its CMake package and of its library
# depend on its version; the name of its header does not.

find_path(XIR_MSGPACK_INCLUDE_DIR msgpack.h)
find_library(XIR_MSGPACK_LIBRARY NAMES msgpackc msgpack-c)
mark_as_advanced(XIR_MSGPACK_INCLUDE_DIR XIR_MSGPACK_LIBRARY)
if(XIR_MSGPACK_INCLUDE_DIR AND XIR_MSGPACK_LIBRARY AND NOT TARGET xir::msgpack)
    add_library(xir::msgpack UNKNOWN IMPORTED)
    set_target_properties(xir::msgpack PROPERTIES
        IMPORTED_LOCATION "${XIR_MSGPACK_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${XIR_MSGPACK_INCLUDE_DIR}")
endif()
