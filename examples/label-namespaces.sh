#!/usr/bin/env bash
# Keeps the label "team" on every namespace: hark run namespaces -- ./label-namespaces.sh
set -eu
[ "$HARK_TYPE" != DELETED ] || exit 0
if grep -q '"team":'; then exit 0; fi
kubectl label namespace "$HARK_NAME" team=unknown --field-manager "$HARK_FIELD_MANAGER"
