# Compiler settings common to every target of the project.
find_program(CALOTYPE_CCACHE ccache)
if(CALOTYPE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_C_COMPILER_LAUNCHER ${CALOTYPE_CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CALOTYPE_CCACHE})
endif()

add_library(calotype_options INTERFACE)
# GCC 12 reports overlaps (-Wrestrict) in std::string's own code at -O3, and at -O1 members of a std::variant that is never
# in that state as perhaps uninitialised.
target_compile_options(calotype_options INTERFACE -Wall -Wextra -Wno-missing-field-initializers
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<CONFIG:Debug>>:-Wno-maybe-uninitialized>
  $<$<BOOL:${CALOTYPE_WERROR}>:-Werror>)
if(CALOTYPE_SANITIZE)
  target_compile_options(calotype_options INTERFACE -fsanitize=${CALOTYPE_SANITIZE} -fno-omit-frame-pointer)
  target_link_options(calotype_options INTERFACE -fsanitize=${CALOTYPE_SANITIZE})
endif()
if(CALOTYPE_LIBFUZZER)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "CALOTYPE_LIBFUZZER needs Clang: CC=clang-19 CXX=clang++-19")
  endif()
  target_compile_options(calotype_options INTERFACE -fsanitize=fuzzer-no-link,address -fno-omit-frame-pointer)
  target_link_options(calotype_options INTERFACE -fsanitize=address)
endif()
if(CALOTYPE_STATIC)
  target_link_options(calotype_options INTERFACE -static-libstdc++ -static-libgcc)
endif()

# Precompiled headers hide a missing include, so they are for quick builds while developing and off elsewhere.
function(calotype_precompile target)
  if(CALOTYPE_PCH)
    target_precompile_headers(${target} PRIVATE ${ARGN})
    target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)
  endif()
endfunction()

# calotype_layer(NAME [SOURCES_IN folder...] [DEPENDS layer...] [LINK library...])
# A static library from every source of the folders: one layer of the house.
function(calotype_layer name)
  cmake_parse_arguments(ARG "" "" "SOURCES_IN;DEPENDS;LINK" ${ARGN})
  set(sources)
  foreach(folder IN LISTS ARG_SOURCES_IN)
    file(GLOB found CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.cpp ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.c)
    list(APPEND sources ${found})
  endforeach()
  if(NOT sources)
    add_library(calotype_${name} INTERFACE)
    foreach(layer IN LISTS ARG_DEPENDS)
      target_link_libraries(calotype_${name} INTERFACE calotype_${layer})
    endforeach()
    return()
  endif()
  add_library(calotype_${name} STATIC ${sources})
  target_include_directories(calotype_${name} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:include>
    PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(calotype_${name} PRIVATE $<BUILD_INTERFACE:calotype_options> PUBLIC ${ARG_LINK})
  foreach(layer IN LISTS ARG_DEPENDS)
    target_link_libraries(calotype_${name} PUBLIC calotype_${layer})
  endforeach()
  calotype_precompile(calotype_${name} "$<$<COMPILE_LANGUAGE:CXX>:<algorithm$<ANGLE-R>>"
    "$<$<COMPILE_LANGUAGE:CXX>:<functional$<ANGLE-R>>" "$<$<COMPILE_LANGUAGE:CXX>:<map$<ANGLE-R>>"
    "$<$<COMPILE_LANGUAGE:CXX>:<string$<ANGLE-R>>" "$<$<COMPILE_LANGUAGE:CXX>:<unordered_map$<ANGLE-R>>"
    "$<$<COMPILE_LANGUAGE:CXX>:<variant$<ANGLE-R>>" "$<$<COMPILE_LANGUAGE:CXX>:<vector$<ANGLE-R>>"
    "$<$<COMPILE_LANGUAGE:CXX>:${PROJECT_SOURCE_DIR}/include/calotype/calotype.h>")
endfunction()
