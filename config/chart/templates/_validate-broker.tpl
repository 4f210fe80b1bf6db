{{- /* Dex ignores unknown keys, and stops at an unknown connector. */ -}}
{{- define "depot.validate.broker" -}}
{{- $v := .v -}}
{{- $found := .found -}}
{{- $config := $v.broker.config -}}
{{- if $v.broker.enabled -}}
{{- $ids := list -}}
{{- range $config.staticClients -}}{{- $ids = append $ids (toString .id) -}}{{- end -}}
{{- include "depot.check" (dict "found" $found "wrong" (dict
"V29 broker.config.storage.type=memory gives each pod its own login codes and signing keys; use kubernetes, or one replica"
  (and (gt (int $v.broker.replicaCount) 1) (eq (toString (dig "storage" "type" "" $config)) "memory"))
(printf "V30 broker.config.staticClients has no client \"%s\"; add it, or correct server.oidc.clientId" $v.server.oidc.clientId)
  (and $ids (not (has $v.server.oidc.clientId $ids)))
"V35 broker.enabled needs server.oidc.enabled=true, because the server ignores the broker's tokens otherwise"
  (not $v.server.oidc.enabled)
"V35 broker.config.connectors is empty, so that nobody could log in; name an identity provider, or set enablePasswordDB and staticPasswords"
  (not (or $config.connectors $config.enablePasswordDB))
)) -}}
{{- $keys := list "issuer" "storage" "web" "telemetry" "oauth2" "grpc" "expiry" "logger" "frontend" "signer" "connectors" "staticClients" "enablePasswordDB" "staticPasswords" -}}
{{- range keys $config -}}
{{- include "depot.check" (dict "found" $found "wrong" (dict
(printf "V35 broker.config.%s is not a key of Dex; write one of %s" . (join ", " $keys))
  (not (has . $keys))
)) -}}
{{- end -}}
{{- $types := list "atlassian-crowd" "authproxy" "bitbucket-cloud" "gitea" "github" "gitlab" "google" "keystone" "ldap" "linkedin" "microsoft" "mockCallback" "mockPassword" "oauth" "oidc" "openshift" "saml" -}}
{{- range $config.connectors -}}
{{- include "depot.check" (dict "found" $found "wrong" (dict
(printf "V35 broker.config.connectors has the type \"%v\"; write one of %s" .type (join ", " $types))
  (not (has .type $types))
)) -}}
{{- end -}}
{{- end -}}
{{- end }}
