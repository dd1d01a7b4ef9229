# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# Compiler flags, and the functions that give them to XIR's targets.

# These apply to every target of this tree, and not to a project that contains it.
if(XIR_SANITIZE)
    add_compile_options(-fsanitize=${XIR_SANITIZE} -fno-omit-frame-pointer)
    add_link_options(-fsanitize=${XIR_SANITIZE})
    if(XIR_SANITIZE MATCHES undefined)
        add_compile_options(-fno-sanitize-recover=all)
    endif()
    if(CMAKE_C_COMPILER_ID STREQUAL GNU)
        # Undefined behaviour stops the program in its place: the descriptions of all such places would be 14 MB, which
        # each start of a program relocates. AddressSanitizer prints the stack (handle_sigill).
        add_compile_options(-fsanitize-undefined-trap-on-error)
        add_compile_options(-Wno-maybe-uninitialized)    # gcc 12 reports instrumented code wrongly
    endif()
endif()
if(XIR_COVERAGE)
    add_compile_options(--coverage -fprofile-update=atomic)
    add_link_options(--coverage)
endif()
if(XIR_FUZZ)
    if(NOT CMAKE_C_COMPILER_ID MATCHES Clang)
        message(FATAL_ERROR "xir: XIR_FUZZ needs clang (preset fuzz)")
    endif()
    add_compile_options(-fsanitize=fuzzer-no-link)
endif()

# A compiler cache that is XIR's own, at most 2 GB. An object of another checkout counts as well: ccache writes paths
# below this one relative to the folder of the build, and debug information names that folder ".".
# The compiler lists the headers that it has read (CCACHE_DEPEND), so that nothing is preprocessed twice.
file(RELATIVE_PATH XIR_SOURCE_PATH ${PROJECT_BINARY_DIR} ${PROJECT_SOURCE_DIR})
string(REGEX REPLACE "/$" "" XIR_SOURCE_PATH "${XIR_SOURCE_PATH}")
if(XIR_CCACHE)
    find_program(XIR_CCACHE_PROGRAM ccache)
    find_program(XIR_ENV_PROGRAM env)
    mark_as_advanced(XIR_CCACHE_PROGRAM XIR_ENV_PROGRAM)
endif()
if(XIR_CCACHE AND XIR_CCACHE_PROGRAM AND XIR_ENV_PROGRAM)
    set(launcher ${XIR_ENV_PROGRAM} CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_DEPEND=1 CCACHE_MAXSIZE=2G)
    if(NOT DEFINED ENV{CCACHE_DIR} AND DEFINED ENV{HOME})
        list(APPEND launcher CCACHE_DIR=$ENV{HOME}/.cache/xir-ccache)
    endif()
    set(CMAKE_C_COMPILER_LAUNCHER ${launcher} ${XIR_CCACHE_PROGRAM})
    set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher} ${XIR_CCACHE_PROGRAM})
    add_compile_options("-fdebug-prefix-map=${PROJECT_BINARY_DIR}=.")
endif()

set(XIR_WARNINGS -Wall -Wextra -Wshadow -Wpointer-arith -Wcast-qual -Wwrite-strings
    -Wvla -Wundef -Wno-missing-field-initializers)
set(XIR_WARNINGS_C -Wpedantic -Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition)
if(CMAKE_C_COMPILER_ID STREQUAL GNU)
    list(APPEND XIR_WARNINGS -Wlogical-op -Wduplicated-cond)
endif()
if(XIR_WERROR)
    list(APPEND XIR_WARNINGS -Werror)
endif()

# gcc 12.2 at -O2 loses the rounding when two adjacent numbers become (double)(float)x: it joins the pair into a vector
# and takes double -> float -> double for a conversion without effect.
#
#     double pair[2] = { (double)(float)a, (double)(float)b };     /* is { a, b } */
#
# XIR relies on rounding to float32, so pairs are not joined. Loops are still vectorised.
set(XIR_CORRECT "")
if(CMAKE_C_COMPILER_ID STREQUAL GNU)
    set(XIR_CORRECT -fno-tree-slp-vectorize)
endif()

# Every target of XIR: C11 without extensions, C++17 for C++ sources, hidden names.
function(xir_target_flags target)
    set_target_properties(${target} PROPERTIES
        C_STANDARD 11   C_STANDARD_REQUIRED ON   C_EXTENSIONS OFF
        CXX_STANDARD 17 CXX_STANDARD_REQUIRED ON CXX_EXTENSIONS OFF
        C_VISIBILITY_PRESET hidden CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
    target_compile_options(${target} PRIVATE
        ${XIR_WARNINGS} $<$<COMPILE_LANGUAGE:C>:${XIR_WARNINGS_C}>
        ${XIR_CORRECT}
        -ffp-contract=off                                   # results do not depend on the machine
        # __FILE__ does not depend on where the tree is, also if ccache writes that relative to the folder of the build
        "-fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=" "-fmacro-prefix-map=${XIR_SOURCE_PATH}/=")
    target_compile_definitions(${target} PRIVATE $<$<BOOL:${XIR_DEBUG_ARENA}>:XIR_DEBUG_ARENA=1>)
endfunction()

# The objects of the library.
function(xir_library_flags target)
    xir_target_flags(${target})
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/include)
    target_include_directories(${target} SYSTEM PRIVATE
        ${OPENSSL_INCLUDE_DIR} ${XIR_MSGPACK_INCLUDE_DIR} ${XIR_DEFLATE_INCLUDE_DIR})
    target_compile_definitions(${target} PRIVATE _GNU_SOURCE XIR_BUILDING=1)
    if(CMAKE_C_COMPILER_ID STREQUAL GNU)
        target_compile_options(${target} PRIVATE -fno-semantic-interposition)
    endif()
    # A program that links libxir.a with --gc-sections is without the functions and tables that it does not reach.
    target_compile_options(${target} PRIVATE -ffunction-sections -fdata-sections)
    if(XIR_COUNT_WORK)
        target_compile_options(${target} PRIVATE -fsanitize-coverage=trace-pc)
    endif()
    if(XIR_LTO)    # objects hold ordinary code as well, for tests that link single objects
        target_compile_options(${target} PRIVATE -flto -ffat-lto-objects)
    endif()
endfunction()

# Folders for #include "…" only, so that a private params.h or limits.h never hides a system header.
function(xir_private_include target)
    foreach(folder IN LISTS ARGN)
        target_compile_options(${target} PRIVATE "SHELL:-iquote \"${PROJECT_SOURCE_DIR}/${folder}\"")
    endforeach()
endfunction()

# Sets `out` to one object that joins the given ones and whose hidden names are local. Its sections are those of the
# given ones (--unique: also where two have the name of a static function), so that a linker can drop each by itself.
# Instrumented builds add names of their own, so there `out` is the given objects.
function(xir_one_object out)
    if(XIR_SANITIZE OR XIR_COVERAGE OR XIR_FUZZ OR CMAKE_INTERPROCEDURAL_OPTIMIZATION OR NOT CMAKE_OBJCOPY)
        set(${out} ${ARGN} PARENT_SCOPE)
        return()
    endif()
    set(object ${CMAKE_CURRENT_BINARY_DIR}/xir.o)
    separate_arguments(flags UNIX_COMMAND "${CMAKE_C_FLAGS}")
    if(XIR_LTO)    # link-time optimisation ends here: libxir.a holds ordinary code
        list(APPEND flags -flto=${XIR_LTO_JOBS} -flinker-output=nolto-rel -O3 -fPIC -ffunction-sections -fdata-sections)
    endif()
    add_custom_command(OUTPUT ${object}
        COMMAND ${CMAKE_C_COMPILER} ${flags} -r -nostdlib -Wl,--unique -o ${object} ${ARGN}
        COMMAND ${CMAKE_OBJCOPY} --localize-hidden ${object}
        DEPENDS ${ARGN}
        COMMENT "Joining objects xir.o"
        COMMAND_EXPAND_LISTS VERBATIM)
    set_source_files_properties(${object} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
    set(${out} ${object} PARENT_SCOPE)
endfunction()

# A plug-in <folder of the build>/<name>.so. It is linked with no library: it uses the XIR of the program that loads it.
function(xir_plugin target name)
    add_library(${target} MODULE ${ARGN})
    set_target_properties(${target} PROPERTIES PREFIX "" SUFFIX .so OUTPUT_NAME ${name})
    xir_target_flags(${target})
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/include)
    list(GET ARGN 0 source)    # declare.h includes the lists next to it
    get_filename_component(folder ${source} DIRECTORY)
    file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${folder})
    xir_private_include(${target} ${folder})
endfunction()

# Sets `out` to the headers in <…> that `source` includes and the C++ compiler does not find, XIR's own apart: they
# stand for the packages that a C++ test or peer lacks.
include(CheckIncludeFileCXX OPTIONAL)
function(xir_missing_headers out source)
    set(missing "")
    file(STRINGS ${source} lines REGEX "^#[ \t]*include[ \t]*<[^>]*[/.][^>]*>")
    foreach(line IN LISTS lines)
        string(REGEX REPLACE "^[^<]*<([^>]*)>.*" "\\1" header "${line}")
        if(header MATCHES "^xir/")
            continue()
        endif()
        string(MAKE_C_IDENTIFIER "XIR_HAVE_${header}" have)
        check_include_file_cxx(${header} ${have})
        if(NOT ${have})
            list(APPEND missing ${header})
        endif()
    endforeach()
    set(${out} "${missing}" PARENT_SCOPE)
endfunction()

# Enables C++ if there is a compiler, and sets XIR_HAVE_CXX. It is a macro because a language is enabled in the folder
# that uses it.
include(CheckLanguage)
macro(xir_enable_cxx)
    set(XIR_HAVE_CXX ON)
    if(CMAKE_CXX_COMPILER)      # a preset names one, which may not be installed
        find_program(XIR_CXX_FOUND ${CMAKE_CXX_COMPILER})
        mark_as_advanced(XIR_CXX_FOUND)
        if(NOT XIR_CXX_FOUND)
            set(XIR_HAVE_CXX OFF)
        endif()
    else()
        check_language(CXX)
        if(NOT CMAKE_CXX_COMPILER)
            set(XIR_HAVE_CXX OFF)
        endif()
    endif()
    if(XIR_HAVE_CXX)
        enable_language(CXX)
    endif()
endmacro()
