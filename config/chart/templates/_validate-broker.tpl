{{- define "depot.validate.broker" -}}
{{- $v := .v -}}
{{- $config := $v.broker.config -}}
{{- if $v.broker.enabled -}}
{{- if and (gt (int $v.broker.replicaCount) 1) (eq (toString (dig "storage" "type" "" $config)) "memory") -}}
{{- include "depot.found" (dict "in" . "text" "V29 broker.config.storage.type=memory gives each pod its own login codes and signing keys; use kubernetes, or one replica") -}}
{{- end -}}
{{- with $config.staticClients -}}
{{- $ids := list -}}
{{- range . -}}{{- $ids = append $ids (toString .id) -}}{{- end -}}
{{- if not (has $v.server.oidc.clientId $ids) -}}
{{- include "depot.found" (dict "in" $ "text" (printf "V30 broker.config.staticClients has no client \"%s\"" $v.server.oidc.clientId)) -}}
{{- end -}}
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
{{- include "depot.found" (dict "in" $in "text" (printf "V31 %s is now %s; see docs/migrating.md" $old $new)) -}}
{{- end -}}
{{- end }}
