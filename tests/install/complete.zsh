#!/usr/bin/env -S zsh -f
# SPDX-License-Identifier: Apache-2.0
# usage: complete.zsh FOLDER LINE
# What a zsh that takes completion from FOLDER shows when a person types LINE
# and presses the tab key, in a terminal of its own.
zmodload zsh/zpty
folder=${1:A}
zpty shell zsh -f -i
zpty -w shell "fpath=($folder \$fpath); autoload -Uz compinit; compinit -uD; echo ready-\$((1 + 1))"
zpty -r shell shown '*ready-2*'
zpty -n -w shell "$2"$'\t'
sleep 1
while zpty -rt shell shown; do print -rn -- "$shown"; done
zpty -d shell
