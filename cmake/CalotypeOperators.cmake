# calotype_add_operators(NAME source...)
# A program that has the whole command line for the operators that the sources register. The sources are compiled
# into the program itself: nothing refers to a registration, so a linker would leave it in an archive.
function(calotype_add_operators name)
  if(NOT ARGN)
    message(FATAL_ERROR "calotype_add_operators(${name}) has no sources")
  endif()
  add_executable(${name} ${ARGN})
  target_compile_features(${name} PRIVATE cxx_std_20)
  target_link_libraries(${name} PRIVATE calotype::cli)
endfunction()
