# benchctl_module(NAME [USES module...] [LIBS target...]): src/NAME/*.c as a static library. USES are the modules whose
# headers it may include; a test holds the includes against ARCHITECTURE.md.
function(benchctl_module NAME)
  cmake_parse_arguments(M "" "" "USES;LIBS" ${ARGN})
  file(GLOB SOURCES CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${NAME}/*.c)
  if(NOT SOURCES)
    message(FATAL_ERROR "src/${NAME} has no sources")
  endif()
  add_library(${NAME} STATIC ${SOURCES})
  target_include_directories(${NAME} PUBLIC ${CMAKE_SOURCE_DIR}/include PRIVATE ${CMAKE_SOURCE_DIR}/src/${NAME})
  target_link_libraries(${NAME} PUBLIC ${M_USES} PRIVATE ${M_LIBS})
endfunction()

# benchctl_test(NAME SOURCES file... [USES module...] [OPTIONS link option...]): one cmocka program, one ctest.
function(benchctl_test NAME)
  cmake_parse_arguments(T "" "TIMEOUT" "SOURCES;USES;OPTIONS;LIBS" ${ARGN})
  add_executable(${NAME} ${T_SOURCES})
  target_link_libraries(${NAME} PRIVATE ${T_USES} PkgConfig::CMOCKA ${T_LIBS} m)
  target_include_directories(${NAME} PRIVATE ${CMAKE_SOURCE_DIR}/tests)
  target_compile_definitions(${NAME} PRIVATE TESTS_DIR="${CMAKE_SOURCE_DIR}/tests" SOURCE_DIR="${CMAKE_SOURCE_DIR}")
  if(T_OPTIONS)
    target_link_options(${NAME} PRIVATE ${T_OPTIONS})
  endif()
  add_test(NAME ${NAME} COMMAND ${NAME} WORKING_DIRECTORY ${CMAKE_BINARY_DIR})
  if(NOT T_TIMEOUT) # for what hangs: how long a test takes depends on the machine, and is not tested
    set(T_TIMEOUT 300)
  endif()
  set_tests_properties(${NAME} PROPERTIES TIMEOUT ${T_TIMEOUT})
endfunction()
