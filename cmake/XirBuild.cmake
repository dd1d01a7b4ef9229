# Compiler flags, and the three ways in which our targets get them.

# Seen by every target of this tree and by no project around it.
if(XIR_SANITIZE)
    add_compile_options(-fsanitize=${XIR_SANITIZE} -fno-omit-frame-pointer)
    add_link_options(-fsanitize=${XIR_SANITIZE})
    if(XIR_SANITIZE MATCHES undefined)
        add_compile_options(-fno-sanitize-recover=all)
    endif()
    if(CMAKE_C_COMPILER_ID STREQUAL GNU)
        add_compile_options(-Wno-maybe-uninitialized)    # gcc 12 is wrong about it in instrumented code
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

set(XIR_WARNINGS -Wall -Wextra -Wshadow -Wpointer-arith -Wcast-qual -Wwrite-strings
    -Wvla -Wundef -Wno-missing-field-initializers)
set(XIR_WARNINGS_C -Wpedantic -Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition)
if(CMAKE_C_COMPILER_ID STREQUAL GNU)
    list(APPEND XIR_WARNINGS -Wlogical-op -Wduplicated-cond)
endif()
if(XIR_WERROR)
    list(APPEND XIR_WARNINGS -Werror)
endif()

# gcc 12.2 at -O2 forgets the rounding when two neighbours become (double)(float)x: it joins the
# pair to a vector, and takes double -> float -> double there for nothing.
#
#     double pair[2] = { (double)(float)a, (double)(float)b };     /* is { a, b } */
#
# We round to float32 for a living, so no such joining.  Loops are still vectorised.
set(XIR_CORRECT "")
if(CMAKE_C_COMPILER_ID STREQUAL GNU)
    set(XIR_CORRECT -fno-tree-slp-vectorize)
endif()

# Every target of ours: C11 without extensions, C++17 where there is any, hidden names.
function(xir_target_flags target)
    set_target_properties(${target} PROPERTIES
        C_STANDARD 11   C_STANDARD_REQUIRED ON   C_EXTENSIONS OFF
        CXX_STANDARD 17 CXX_STANDARD_REQUIRED ON CXX_EXTENSIONS OFF
        C_VISIBILITY_PRESET hidden CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
    target_compile_options(${target} PRIVATE
        ${XIR_WARNINGS} $<$<COMPILE_LANGUAGE:C>:${XIR_WARNINGS_C}>
        ${XIR_CORRECT}
        -ffp-contract=off                                   # figures do not depend on the machine
        "-fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=")       # nor __FILE__ on the place of the tree
    target_compile_definitions(${target} PRIVATE $<$<BOOL:${XIR_DEBUG_ARENA}>:XIR_DEBUG_ARENA=1>)
endfunction()

# The objects of the library.
function(xir_library_flags target)
    xir_target_flags(${target})
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/include)
    target_include_directories(${target} SYSTEM PRIVATE ${OPENSSL_INCLUDE_DIR} ${XIR_MSGPACK_INCLUDE_DIR})
    target_compile_definitions(${target} PRIVATE _GNU_SOURCE XIR_BUILDING=1)
    if(CMAKE_C_COMPILER_ID STREQUAL GNU)
        target_compile_options(${target} PRIVATE -fno-semantic-interposition)
    endif()
    if(XIR_LTO)    # with ordinary code beside it, for tests that link single objects
        target_compile_options(${target} PRIVATE -flto -ffat-lto-objects)
    endif()
endfunction()

# Folders for #include "…" only, so that a private params.h or limits.h never hides a system header.
function(xir_private_include target)
    foreach(folder IN LISTS ARGN)
        target_compile_options(${target} PRIVATE "SHELL:-iquote \"${PROJECT_SOURCE_DIR}/${folder}\"")
    endforeach()
endfunction()

# Sets `out` to the objects joined to one whose hidden names are local, or to the objects as they
# are where that is not possible: instrumented builds bring names of their own.
function(xir_one_object out)
    if(XIR_SANITIZE OR XIR_COVERAGE OR XIR_FUZZ OR CMAKE_INTERPROCEDURAL_OPTIMIZATION OR NOT CMAKE_OBJCOPY)
        set(${out} ${ARGN} PARENT_SCOPE)
        return()
    endif()
    set(object ${CMAKE_CURRENT_BINARY_DIR}/xir.o)
    separate_arguments(flags UNIX_COMMAND "${CMAKE_C_FLAGS}")
    if(XIR_LTO)    # here the files become one: who links libxir.a needs to know nothing of it
        list(APPEND flags -flto=${XIR_LTO_JOBS} -flinker-output=nolto-rel -O3 -fPIC)
    endif()
    add_custom_command(OUTPUT ${object}
        COMMAND ${CMAKE_C_COMPILER} ${flags} -r -nostdlib -o ${object} ${ARGN}
        COMMAND ${CMAKE_OBJCOPY} --localize-hidden ${object}
        DEPENDS ${ARGN}
        COMMENT "Joining objects xir.o"
        COMMAND_EXPAND_LISTS VERBATIM)
    set_source_files_properties(${object} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
    set(${out} ${object} PARENT_SCOPE)
endfunction()

# A plug-in <folder of the build>/<name>.so.  It is linked with nothing: it meets the library of the
# program that loads it.
function(xir_plugin target name)
    add_library(${target} MODULE ${ARGN})
    set_target_properties(${target} PROPERTIES PREFIX "" SUFFIX .so OUTPUT_NAME ${name})
    xir_target_flags(${target})
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/include)
    list(GET ARGN 0 source)    # its lists lie beside it, and are included by declare.h
    get_filename_component(folder ${source} DIRECTORY)
    file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${folder})
    xir_private_include(${target} ${folder})
endfunction()

# Sets `out` to the headers in <…> that `source` includes, that are not ours, and that the C++
# compiler does not find: the packages a C++ test or peer misses.
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

# Turns C++ on if there is a compiler for it; XIR_HAVE_CXX says so.  A macro: languages are
# enabled in the folder that uses them.
include(CheckLanguage)
macro(xir_enable_cxx)
    check_language(CXX)
    if(CMAKE_CXX_COMPILER)
        enable_language(CXX)
        set(XIR_HAVE_CXX ON)
    else()
        set(XIR_HAVE_CXX OFF)
    endif()
endmacro()
