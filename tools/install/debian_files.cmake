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
file(GLOB programs ${root}/bin/* ${root}/lib/*/lib*.so.*.*.*)
execute_process(COMMAND strip --strip-unneeded ${programs})
file(GLOB archives ${root}/lib/*/lib*.a)
execute_process(COMMAND strip --strip-debug ${archives})
