#!/bin/sh
# Checks a change of manifests: mistakes, then what it would do to the registry. The plan is in plan.md, for a comment.
# Usage: check-pull-request.sh FOLDER [flags of depot plan, such as --kubeconfig FILE]
set -u
folder=$1
shift
depot lint "$folder" || exit 1
if [ $# -gt 0 ]; then
  depot plan "$folder" -o markdown "$@" > plan.md
else
  depot plan --manifests "$folder" -o markdown > plan.md
fi
status=$?
cat plan.md
# 2 means changes, which is what a pull request is for.
[ "$status" -ne 1 ]
