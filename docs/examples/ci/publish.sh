#!/bin/sh
# Publishes a module with curl, from any CI system that gives its jobs OIDC tokens. The token is in DEPOT_ID_TOKEN.
# Usage: publish.sh https://HOST/depot/publish/v1/modules/NAMESPACE/NAME/SYSTEM FOLDER VERSION
set -eu
url=$1 folder=$2 version=${3#v}
: "${DEPOT_ID_TOKEN:?let the CI system set it to a token for the audience of the publish issuer}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tar -czf "$work/module.tar.gz" --exclude .git --exclude .terraform -C "$folder" .
# From a file, so that no list of processes shows the token.
printf 'Authorization: Bearer %s\n' "$DEPOT_ID_TOKEN" > "$work/header"
curl --fail-with-body --silent --show-error --retry 5 --upload-file "$work/module.tar.gz" \
  --header "@$work/header" --header "Content-Type: application/gzip" \
  --header "X-Depot-Sha256: $(sha256sum "$work/module.tar.gz" | cut -d ' ' -f 1)" "$url/$version"
