# The web viewer: npm ci, type check, bundle, and its files as a C++ source.
#
# Everything happens in the build folder; the source folder stays as it is.
find_program(CAIRN_NPM npm)
find_program(CAIRN_NODE node)
if(CAIRN_NPM AND CAIRN_NODE)
  set(cairn_has_npm ON)
else()
  set(cairn_has_npm OFF)
endif()
option(CAIRN_BUILD_VIEWER "Build the web viewer into the server (needs npm)" ${cairn_has_npm})
if(NOT CAIRN_BUILD_VIEWER)
  message(STATUS "Web viewer: left out; install npm and nodejs to have it")
endif()

# cairn_viewer_sources(VAR): sets VAR to the source with the viewer's files, or
# to the one that says there are none.
function(cairn_viewer_sources var)
  if(NOT CAIRN_BUILD_VIEWER)
    set(${var} assets_none.cc PARENT_SCOPE)
    return()
  endif()
  set(from ${CMAKE_CURRENT_SOURCE_DIR}/viewer)
  set(to ${CMAKE_CURRENT_BINARY_DIR}/viewer)
  set(packages ${from}/package.json ${from}/package-lock.json ${from}/.npmrc)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${from}/src/*)
  list(APPEND sources ${from}/index.html ${from}/tsconfig.json ${from}/vite.config.ts)
  file(MAKE_DIRECTORY ${to})

  # esbuild needs no install script: its program is a package of its own.
  add_custom_command(
    OUTPUT ${to}/packages.stamp
    COMMAND ${CMAKE_COMMAND} -E copy ${packages} ${to}
    COMMAND ${CAIRN_NPM} ci --ignore-scripts --no-audit --no-fund --loglevel=error
    COMMAND ${CMAKE_COMMAND} -E touch ${to}/packages.stamp
    DEPENDS ${packages}
    WORKING_DIRECTORY ${to}
    COMMENT "Fetching the viewer's packages"
    VERBATIM)
  add_custom_command(
    OUTPUT ${to}/assets.cc
    COMMAND ${CMAKE_COMMAND} -E rm -rf ${to}/src ${to}/dist
    COMMAND ${CMAKE_COMMAND} -E copy_directory ${from}/src ${to}/src
    COMMAND ${CMAKE_COMMAND} -E copy ${from}/index.html ${from}/tsconfig.json
            ${from}/vite.config.ts ${to}
    COMMAND ${CAIRN_NPM} run --silent build -- --logLevel warn
    COMMAND ${CAIRN_NODE} ${from}/embed.mjs ${to}/dist ${to}/assets.cc
    DEPENDS ${to}/packages.stamp ${from}/embed.mjs ${sources}
    WORKING_DIRECTORY ${to}
    COMMENT "Building the viewer"
    VERBATIM)
  set(${var} ${to}/assets.cc PARENT_SCOPE)
endfunction()
