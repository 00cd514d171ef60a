# SPDX-License-Identifier: Apache-2.0
# Runs before files are installed: writes to NOTE which folders of DESTINATIONS
# were not there, the outermost of each, so that `uninstall` removes what was
# made and no folder that was there before, empty or not. Folders of MANUAL are
# destinations below SHARE, too.
file(GLOB_RECURSE entries LIST_DIRECTORIES true RELATIVE ${MANUAL} ${MANUAL}/*)
foreach(entry IN LISTS entries)
  if(IS_DIRECTORY ${MANUAL}/${entry})
    list(APPEND DESTINATIONS ${SHARE}/${entry})
  endif()
endforeach()
foreach(folder IN LISTS DESTINATIONS)
  cmake_path(ABSOLUTE_PATH folder BASE_DIRECTORY ${CMAKE_INSTALL_PREFIX})
  set(folder $ENV{DESTDIR}${folder})
  set(missing)
  while(NOT EXISTS ${folder})
    set(missing ${folder})
    cmake_path(GET folder PARENT_PATH folder)
  endwhile()
  if(missing)
    file(APPEND ${NOTE} "${missing}\n")
  endif()
endforeach()
