{{- define "depot.validate.routing" -}}
{{- $v := .v -}}
{{- $in := . -}}
{{- range $c := list "server" "ui" -}}
{{- $values := index $v $c -}}
{{- /* If the explorer is enabled, the server's own ingress and route are not rendered. */ -}}
{{- if and $values.enabled (or (eq $c "ui") (not $v.ui.enabled)) -}}
{{- if $values.ingress.enabled -}}
{{- $hosts := list -}}
{{- range $values.ingress.hosts -}}{{- $hosts = append $hosts .host -}}{{- end -}}
{{- include "depot.validate.hosts" (dict "in" $in "name" (printf "%s.ingress" $c) "hosts" $hosts) -}}
{{- if eq $c "ui" -}}
{{- range $values.ingress.hosts -}}
{{- range .paths -}}
{{- if regexMatch "^/(depot|broker|\\.well-known)(/|$)" .path -}}
{{- include "depot.found" (dict "in" $in "text" (printf "V19 ui.ingress path \"%s\" belongs to the server; remove it, the chart adds it" .path)) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if $values.route.enabled -}}
{{- include "depot.validate.hosts" (dict "in" $in "name" (printf "%s.route" $c) "key" "hostnames" "hosts" $values.route.hostnames) -}}
{{- if not $values.route.parentRefs -}}
{{- include "depot.found" (dict "in" $in "text" (printf "V19 %s.route.parentRefs must not be empty" $c)) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- with $v.server.ingress.istio -}}
{{- if .enabled -}}
{{- include "depot.validate.hosts" (dict "in" $in "name" "server.ingress.istio" "hosts" .hosts) -}}
{{- if not .gateway -}}
{{- include "depot.found" (dict "in" $in "text" "V19 server.ingress.istio.gateway must not be empty") -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end }}

{{- define "depot.validate.hosts" -}}
{{- $in := .in -}}
{{- $key := .key | default "hosts" -}}
{{- $name := .name -}}
{{- if not .hosts -}}
{{- include "depot.found" (dict "in" $in "text" (printf "V19 %s.%s must not be empty" $name $key)) -}}
{{- end -}}
{{- $seen := dict -}}
{{- range .hosts -}}
{{- if hasKey $seen . -}}
{{- include "depot.found" (dict "in" $in "text" (printf "V19 %s lists host \"%s\" twice" $name .)) -}}
{{- end -}}
{{- $_ := set $seen . true -}}
{{- end -}}
{{- end }}
