# SPDX-License-Identifier: Apache-2.0
# cmake -DOUT=FILE -DSOURCE=DIR -DCOMMIT=… -P write_commit.cmake
# Writes which commit is built; a file that says so already stays as it is.
cmake_minimum_required(VERSION 3.25)
if(NOT COMMIT)
  execute_process(COMMAND git -C ${SOURCE} rev-parse --short=12 HEAD
                  OUTPUT_VARIABLE COMMIT OUTPUT_STRIP_TRAILING_WHITESPACE
                  ERROR_QUIET RESULT_VARIABLE failed)
  if(failed)
    set(COMMIT unknown)
  endif()
endif()
file(CONFIGURE OUTPUT ${OUT} CONTENT
     "extern const char* const kMxcCommit;\nconst char* const kMxcCommit = \"@COMMIT@\";\n"
     @ONLY)
