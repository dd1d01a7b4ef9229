# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# Headers, both libraries, the program, the documentation, and the three ways to find them: find_package(xir),
# pkg-config, and a plain -lxir. The component `runtime` is the shared library and the program, `python` the Python
# package, and `dev` all else.

include(CMakePackageConfigHelpers)

set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME dev)

set(xir_cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/xir)

install(DIRECTORY include/xir DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
    FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp" PATTERN "*.def")

# Two sets of targets: a program that links the shared library does not need the packages that the static one needs.
install(TARGETS xir_shared EXPORT xirTargets
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT dev
    INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS xir_static EXPORT xirStaticTargets
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
    INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT xirTargets       NAMESPACE xir:: DESTINATION ${xir_cmake_dir})
install(EXPORT xirStaticTargets NAMESPACE xir:: DESTINATION ${xir_cmake_dir})

configure_package_config_file(cmake/xirConfig.cmake.in ${PROJECT_BINARY_DIR}/xirConfig.cmake
    INSTALL_DESTINATION ${xir_cmake_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/xirConfigVersion.cmake
    COMPATIBILITY ${XIR_COMPATIBILITY})
install(FILES ${PROJECT_BINARY_DIR}/xirConfig.cmake ${PROJECT_BINARY_DIR}/xirConfigVersion.cmake
    cmake/XirMsgpack.cmake cmake/XirDeflate.cmake
    DESTINATION ${xir_cmake_dir})

# xir.pc finds its prefix from its own place, so that an installed tree can be moved.
if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")
    set(xir_pc_prefix "${CMAKE_INSTALL_PREFIX}")
    set(xir_pc_libdir "${CMAKE_INSTALL_LIBDIR}")
else()
    file(RELATIVE_PATH xir_pc_up "/x/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/x")
    string(REGEX REPLACE "/$" "" xir_pc_up "${xir_pc_up}")
    set(xir_pc_prefix "\${pcfiledir}/${xir_pc_up}")
    set(xir_pc_libdir "\${prefix}/${CMAKE_INSTALL_LIBDIR}")
endif()
if(IS_ABSOLUTE "${CMAKE_INSTALL_INCLUDEDIR}")
    set(xir_pc_includedir "${CMAKE_INSTALL_INCLUDEDIR}")
else()
    set(xir_pc_includedir "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
endif()
if(IS_ABSOLUTE "${CMAKE_INSTALL_DOCDIR}")
    set(xir_pc_docdir "${CMAKE_INSTALL_DOCDIR}")
else()
    set(xir_pc_docdir "\${prefix}/${CMAKE_INSTALL_DOCDIR}")
endif()
set(xir_pc_private "-ldeflate -lm")
get_filename_component(xir_pc_msgpack ${XIR_MSGPACK_LIBRARY} NAME_WE)
string(REGEX REPLACE "^lib" " -l" xir_pc_msgpack ${xir_pc_msgpack})
string(PREPEND xir_pc_private "${xir_pc_msgpack} ")    # the name of its pkg-config file depends on its version
if(CMAKE_DL_LIBS)
    string(APPEND xir_pc_private " -l${CMAKE_DL_LIBS}")
endif()
if(CMAKE_THREAD_LIBS_INIT)
    string(APPEND xir_pc_private " ${CMAKE_THREAD_LIBS_INIT}")
endif()
configure_file(cmake/xir.pc.in ${PROJECT_BINARY_DIR}/xir.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/xir.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# The documentation is laid out as in the tree, so that its links work: README.md, docs/, and examples/, which pages
# show. The schema of .fb files is docs/xir.fbs. XirPages.cmake mends the links that lead out of these.
install(FILES README.md CHANGELOG.md CONTRIBUTING.md SECURITY.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES LICENSE THIRD_PARTY.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT runtime)
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DOCDIR} PATTERN "CMakeLists.txt" EXCLUDE)
file(RELATIVE_PATH xir_pages_up ${CMAKE_INSTALL_FULL_DOCDIR} ${CMAKE_INSTALL_FULL_INCLUDEDIR})
if(IS_ABSOLUTE "${CMAKE_INSTALL_DOCDIR}")
    set(xir_pages "${CMAKE_INSTALL_DOCDIR}")
else()
    set(xir_pages "\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DOCDIR}")
endif()
install(CODE "set(FOLDER \"\$ENV{DESTDIR}${xir_pages}\")
set(UP \"${xir_pages_up}\")
include(\"${PROJECT_SOURCE_DIR}/cmake/XirPages.cmake\")")
xir_install_licence(${CMAKE_INSTALL_DOCDIR}/licences COMPONENT runtime)

if(XIR_MAN3)    # see XirReference.cmake
    install(DIRECTORY ${XIR_MAN3}/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man3)
endif()

# Plug-ins are not searched for: a program names the file of the one that it loads.
if(XIR_PLUGINS)
    install(TARGETS ${XIR_PLUGINS} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/xir COMPONENT runtime)
endif()

# The program is linked with libxir.so: see tools/CMakeLists.txt.
if(TARGET xir)
    if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}" OR IS_ABSOLUTE "${CMAKE_INSTALL_BINDIR}")
        set(xir_rpath "${CMAKE_INSTALL_FULL_LIBDIR}")
    else()
        file(RELATIVE_PATH xir_rpath "/x/${CMAKE_INSTALL_BINDIR}" "/x/${CMAKE_INSTALL_LIBDIR}")
        set(xir_rpath "$ORIGIN/${xir_rpath}")
    endif()
    set_target_properties(${XIR_PROGRAMS} PROPERTIES INSTALL_RPATH "${xir_rpath}")
    install(TARGETS ${XIR_PROGRAMS} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT runtime)
    set(xir_vim ${CMAKE_INSTALL_DATADIR}/vim/vimfiles)
    install(FILES tools/editors/xir.vim DESTINATION ${xir_vim}/syntax COMPONENT runtime)
    install(FILES tools/editors/ftdetect.vim DESTINATION ${xir_vim}/ftdetect RENAME xir.vim COMPONENT runtime)
    if(XIR_PRINTED)    # see tools/CMakeLists.txt
        install(DIRECTORY ${XIR_PRINTED}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR} COMPONENT runtime)
        install(DIRECTORY ${XIR_PRINTED}/bash-completion ${XIR_PRINTED}/zsh ${XIR_PRINTED}/fish
            DESTINATION ${CMAKE_INSTALL_DATADIR} COMPONENT runtime)
    endif()
endif()
