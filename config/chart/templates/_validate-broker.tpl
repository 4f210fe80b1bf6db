{{- /* Dex ignores a key that it does not know, and stops at a connector that it does not know. */ -}}
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
(printf "V30 broker.config.staticClients has no client \"%s\"" $v.server.oidc.clientId)
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

{{- /* Names of the chart that this one replaces. */ -}}
{{- define "depot.validate.retired" -}}
{{- $v := .v -}}
{{- $in := . -}}
{{- $moved := dict -}}
{{- if hasKey $v "dex" -}}
{{- $_ := set $moved "dex" "broker" -}}
{{- $old := dig "config" "issuer" "" ($v.dex | default dict) | toString -}}
{{- if regexMatch "/dex/?$" $old -}}{{- $_ := set $moved "the path /dex of dex.config.issuer" "/broker" -}}{{- end -}}
{{- end -}}
{{- range $old := list "version" "module" "depot" "provider" -}}
{{- if hasKey $v $old -}}
{{- $keys := list -}}
{{- if kindIs "map" (index $v $old) -}}{{- $keys = keys (index $v $old) | sortAlpha -}}{{- end -}}
{{- range $keys -}}
{{- $_ := set $moved (printf "%s.%s" $old .) (printf "controller.%s" (ternary "logLevel" . (eq . "zapLogLevel"))) -}}
{{- end -}}
{{- if not $keys -}}{{- $_ := set $moved $old "controller" -}}{{- end -}}
{{- end -}}
{{- end -}}
{{- if hasKey $v.server.oidc "dexProxy" -}}{{- $_ := set $moved "server.oidc.dexProxy" "server.oidc.brokerProxy" -}}{{- end -}}
{{- if hasKey $v.ui "nginx" -}}{{- $_ := set $moved "ui.nginx" "removed (Host is always kept, and the container port is 3000)" -}}{{- end -}}
{{- range $c := list "server" "ui" "controller" -}}
{{- if hasKey (index $v $c) "zapLogLevel" -}}{{- $_ := set $moved (printf "%s.zapLogLevel" $c) (printf "%s.logLevel" $c) -}}{{- end -}}
{{- end -}}
{{- range $name, $image := dict "global.image.repository" $v.global.image.repository "server.image.repository" $v.server.image.repository "ui.image.repository" $v.ui.image.repository "controller.image.repository" $v.controller.image.repository -}}
{{- if contains "opendepot" ($image | lower) -}}{{- $_ := set $moved (printf "%s \"%s\"" $name $image) "one image for everything, global.image" -}}{{- end -}}
{{- end -}}
{{- range $old, $new := $moved -}}
{{- $_ := set $in.found "list" (append $in.found.list (printf "V31 %s is now %s; see docs/migrating.md" $old $new)) -}}
{{- end -}}
{{- end }}
