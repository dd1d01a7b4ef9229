# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# cpack makes packages of Debian, an archive of what is installed, and one of the sources. A package is a component of
# the install rules (XirInstall.cmake, python/CMakeLists.txt); name, version and description are those of project().

set(CPACK_GENERATOR "DEB;TGZ")
set(CPACK_SOURCE_GENERATOR TGZ)
set(CPACK_PACKAGE_VENDOR "XIR contributors")
set(CPACK_PACKAGE_CONTACT "XIR contributors")
string(TOLOWER "${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR}" system)
set(CPACK_PACKAGE_FILE_NAME ${PROJECT_NAME}-${PROJECT_VERSION}-${system})
set(CPACK_SOURCE_PACKAGE_FILE_NAME ${PROJECT_NAME}-${PROJECT_VERSION})
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)

# The folder of the build, and what .gitignore lists, are not sources. A checkout may be below a folder named build.
string(REGEX REPLACE "([][+.*()^$?|\\])" "\\\\\\1" top "${PROJECT_SOURCE_DIR}")
string(REGEX REPLACE "([][+.*()^$?|\\])" "\\\\\\1" build "${PROJECT_BINARY_DIR}")
set(CPACK_SOURCE_IGNORE_FILES "^${build}/" "^${top}/(build|b|\\.git)/" "^${top}/compile_commands\\.json$"
    "^${top}/CMakeUserPresets\\.json$" "^${top}/(.*/)?(\\.cache|__pycache__)/" "\\.swp$" "~$")

set(CPACK_COMPONENTS_ALL runtime dev)
if(TARGET xir_python)
    list(APPEND CPACK_COMPONENTS_ALL python)
endif()
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR})

set(exactly "(= ${PROJECT_VERSION})")
set(CPACK_COMPONENT_RUNTIME_DESCRIPTION "The program xir, the shared library, and the plug-ins of the project.")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME xir)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SHLIBDEPS ON)    # the packages that are installed tell what has the libraries
set(CPACK_DEBIAN_RUNTIME_PACKAGE_GENERATE_SHLIBS ON)

set(CPACK_COMPONENT_DEV_DESCRIPTION "The headers, the static library, the documentation, and the examples.")
set(CPACK_DEBIAN_DEV_PACKAGE_NAME libxir-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "xir ${exactly}")
set(CPACK_DEBIAN_DEV_PACKAGE_RECOMMENDS "libssl-dev, libmsgpack-dev, libdeflate-dev")    # as libxir.a needs

if(TARGET xir_python)
    math(EXPR next "${Python3_VERSION_MINOR} + 1")
    set(CPACK_COMPONENT_PYTHON_DESCRIPTION "The Python package xir.")
    set(CPACK_DEBIAN_PYTHON_PACKAGE_NAME python3-xir)
    set(CPACK_DEBIAN_PYTHON_PACKAGE_SECTION python)
    set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS "xir ${exactly}, python3 (>= 3.${Python3_VERSION_MINOR}), \
python3 (<< 3.${next})")
    set(CPACK_DEBIAN_PYTHON_PACKAGE_SHLIBDEPS ON)
    set(CPACK_DEBIAN_PYTHON_PACKAGE_SUGGESTS python3-numpy)
endif()

# Debian looks for the licence of each package in its folder.
foreach(component IN LISTS CPACK_COMPONENTS_ALL)
    string(TOUPPER ${component} upper)
    install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${CPACK_DEBIAN_${upper}_PACKAGE_NAME}
        RENAME copyright COMPONENT ${component} EXCLUDE_FROM_ALL)
endforeach()

include(CPack)
