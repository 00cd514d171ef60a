# SPDX-License-Identifier: Apache-2.0
# Writes the files ASSETS as constants of C++, which HEADER declares, into OUT.
set(text "#include \"${HEADER}\"\n\nnamespace mxc {\n\n")
foreach(asset IN LISTS ASSETS)
  get_filename_component(name ${asset} NAME_WE)
  file(READ ${asset} bytes HEX)
  string(LENGTH "${bytes}" digits)
  math(EXPR size "${digits} / 2")
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
  string(APPEND text "static const unsigned char ${name}[] = {${bytes}};\n"
                     "std::string_view Asset_${name}() {\n"
                     "  return {reinterpret_cast<const char*>(${name}), ${size}};\n}\n\n")
endforeach()
file(WRITE ${OUT} "${text}}  // namespace mxc\n")
