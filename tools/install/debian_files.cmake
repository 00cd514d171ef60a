# SPDX-License-Identifier: Apache-2.0
# What Debian's policy asks of a package beside what everybody gets.
set(root ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/usr)
set(doc ${root}/share/doc/mxc)
file(WRITE ${doc}/copyright
"Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: mxc

Files: *
Copyright: 2026 the mxc authors
License: Apache-2.0
 On Debian systems the full text of the Apache License 2.0 is in
 /usr/share/common-licenses/Apache-2.0.

Files: usr/bin/mxc
Comment: the pages that it writes hold dagre 0.8.5
Copyright: 2012-2014 Chris Pettitt
 OpenJS Foundation and other contributors
License: Expat
 Permission is hereby granted, free of charge, to any person obtaining a copy of
 this software and associated documentation files (the \"Software\"), to deal in
 the Software without restriction, including without limitation the rights to
 use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies
 of the Software, and to permit persons to whom the Software is furnished to do
 so, subject to the following conditions: The above copyright notice and this
 permission notice shall be included in all copies or substantial portions of
 the Software. THE SOFTWARE IS PROVIDED \"AS IS\", WITHOUT WARRANTY OF ANY KIND,
 EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF
 MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO
 EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES
 OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE,
 ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER
 DEALINGS IN THE SOFTWARE.
")
# The text is in common-licenses.
file(REMOVE ${doc}/LICENSE)
string(TIMESTAMP now "%a, %d %b %Y %H:%M:%S +0000" UTC)
file(WRITE ${doc}/changelog
"mxc (${CPACK_PACKAGE_VERSION}) unstable; urgency=medium

  * See CHANGELOG.md.

 -- ${CPACK_PACKAGE_CONTACT}  ${now}
")
file(WRITE ${root}/share/lintian/overrides/mxc
"# One package holds programs, libraries and headers, as one download.
mxc: package-name-doesnt-match-sonames *
mxc: link-to-shared-library-in-wrong-package *
# CPack writes scripts that call ldconfig, beside the trigger.
mxc: maintscript-calls-ldconfig *
")
file(GLOB texts ${root}/share/man/man1/*.1 ${doc}/changelog)
execute_process(COMMAND gzip -9nf ${texts})
file(GLOB programs ${root}/bin/* ${root}/lib/*/lib*.so.*.*.*
     ${root}/lib/*/mxc/*.so)
execute_process(COMMAND strip --strip-unneeded ${programs})
file(GLOB archives ${root}/lib/*/lib*.a)
execute_process(COMMAND strip --strip-debug ${archives})
# libgloo0 is for libmxc_gloo.so alone, which is loaded by the jobs that ask for
# it: a suggestion. CPack has no option for what dpkg-shlibdeps leaves out, but
# takes the command that it finds here.
set(SHLIBDEPS_EXECUTABLE dpkg-shlibdeps -xlibgloo0 CACHE INTERNAL "")
