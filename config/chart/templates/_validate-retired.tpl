{{- /* Values without effect although their component is enabled. */ -}}
{{- define "depot.validate.unused" -}}
{{- $v := .v -}}
{{- $own := include "depot.namespace" .root -}}
{{- $updater := $v.scanning.dbUpdater -}}
{{- $updaterOf := list -}}
{{- range list "extraEgress" "extraEnv" "extraEnvFrom" "repository" -}}
{{- if get $updater . -}}{{- $updaterOf = append $updaterOf (print "scanning.dbUpdater." .) -}}{{- end -}}
{{- end -}}
{{- include "depot.check" (dict "found" .found "wrong" (dict
(printf "V36 scanning.%s has no effect, because scanning.enabled is not true" (ternary "blockOnHigh" "blockOnCritical" $v.scanning.blockOnHigh))
  (and (not $v.scanning.enabled) (or $v.scanning.blockOnHigh $v.scanning.blockOnCritical))
(printf "V36 %s %s no effect, because %s is not true" (join ", " $updaterOf) (ternary "has" "have" (eq (len $updaterOf) 1)) (ternary "scanning.providerScanning" "scanning.dbUpdater.enabled" $updater.enabled))
  (and $v.scanning.enabled $updaterOf (not (and $updater.enabled $v.scanning.providerScanning)))
(printf "V36 global.image.digest pins the image without a scanner: set scanning.image.digest too, to that of the tag %s-scanning" ($v.global.image.tag | default .root.Chart.AppVersion))
  (and $v.scanning.enabled $v.global.image.digest (not (or $v.scanning.image.repository $v.scanning.image.tag $v.scanning.image.digest)))
(printf "V36 scanning.image.repository \"%s\" has no depot: name a mirror of the image of Depot whose tag ends in -scanning, or leave it empty" $v.scanning.image.repository)
  (and $v.scanning.enabled (regexMatch "(^|/)trivy(:|$)" $v.scanning.image.repository))
(printf "V36 controller.secretNamespaces can only name %s, because rbac.scopeToNamespace=true reads no other namespace" $own)
  (and $v.rbac.scopeToNamespace (without $v.controller.secretNamespaces $own))
"V36 controller.events.url and controller.events.secretName need each other: set both, or neither"
  (ne (empty $v.controller.events.url) (empty $v.controller.events.secretName))
)) -}}
{{- end }}

{{- /* Names of the chart that this chart replaces. */ -}}
{{- define "depot.validate.retired" -}}
{{- $v := .v -}}
{{- $in := . -}}
{{- $moved := dict -}}
{{- range $old, $new := dict
  "dex" "broker"
  "server.oidc.dexProxy" "server.oidc.brokerProxy"
  "server.zapLogLevel" "server.logLevel"
  "ui.zapLogLevel" "ui.logLevel"
  "controller.zapLogLevel" "controller.logLevel"
  "valkey.persistence" "valkey.dataStorage"
  "server.metrics" "monitoring.serviceMonitor"
  "monitoring.enabled" "monitoring.serviceMonitor.enabled"
  "monitoring.bundled" "removed (the chart installs no Prometheus)"
  "server.stats.prometheusURL" "removed (Valkey counts downloads)"
  "server.stats.emptyDir" "server.stats.persistence.enabled"
  "server.stats.persistence.accessMode" "removed (each pod has a claim of its own)"
  "ui.nginx" "removed (Host is always kept, and the container port is 3000)"
  "ui.service.targetPort" "removed (the container port is 3000)"
  "ui.serverCACertPath" "removed (ca.crt of server.tls.secretName is used)"
  "global.developmentMode" "removed"
  "agent" "removed"
  "assembly" "removed"
  "scanning.dbUpdater.image" "removed (the image of the scanner downloads the database)"
  "scanning.scanModules" "removed (modules are always scanned)"
-}}
{{- $path := splitList "." $old -}}
{{- $parent := $v -}}
{{- range initial $path -}}{{- $parent = get $parent . | default dict -}}{{- end -}}
{{- if hasKey $parent (last $path) -}}{{- $_ := set $moved $old $new -}}{{- end -}}
{{- end -}}
{{- if regexMatch "/dex/?$" (dig "config" "issuer" "" ($v.dex | default dict) | toString) -}}
{{- $_ := set $moved "the path /dex of dex.config.issuer" "/broker" -}}
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
{{- range $name, $image := dict "global.image.repository" $v.global.image.repository "server.image.repository" $v.server.image.repository "ui.image.repository" $v.ui.image.repository "controller.image.repository" $v.controller.image.repository -}}
{{- if contains "opendepot" ($image | lower) -}}{{- $_ := set $moved (printf "%s \"%s\"" $name $image) "one image for everything, global.image" -}}{{- end -}}
{{- end -}}
{{- range $old, $new := $moved -}}
{{- include "depot.check" (dict "found" $in.found "wrong" (dict
(printf "V31 %s is now %s; see docs/migrating.md" $old $new)
  true
)) -}}
{{- end -}}
{{- end }}
