{{- /* Groups of rules for this release, without the alerts that are disabled. */ -}}
{{- define "depot.alerts" -}}
{{- $v := .Values -}}
{{- $rule := $v.monitoring.prometheusRule -}}
{{- $server := dict "root" . "component" "server" -}}
{{- $namespace := include "depot.namespace" . -}}
{{- $release := include "depot.fullname" . -}}
{{- $limit := ($v.server.resources.limits | default dict).memory | default "0" | toString -}}
{{- $text := .Files.Get "files/alerts.yaml" -}}
{{- range $name, $value := dict
  "TARGET" (printf "namespace=\"%s\",job=\"%s-metrics\"" $namespace (include "depot.component" $server))
  "CONTROLLER" (printf "namespace=\"%s\",job=\"%s-metrics\"" $namespace (include "depot.component" (dict "root" . "component" "controller")))
  "RECORDED" (printf "namespace=\"%s\",release=\"%s\"" $namespace $release)
  "PROTOCOL" "route=~\"/(depot/modules|depot/providers|v1|[.]well-known)/.*\""
  "NAMESPACE" $namespace
  "RELEASE" $release
  "AVAILABILITY" (toString $rule.slo.availability)
  "BUDGET" (subf 1 (divf (float64 $rule.slo.availability) 100) | printf "%.6f" | trimSuffix "0" | regexFind "^[0-9.]*[1-9]")
  "MEMORY_LIMIT" (include "depot.bytes" $limit)
  "MEMORY_LIMIT_TEXT" $limit
-}}
{{- $text = $text | replace (printf "@%s@" $name) $value -}}
{{- end -}}
{{- $groups := list -}}
{{- range (fromYaml $text).groups -}}
{{- if or (ne .name "controller") $v.controller.enabled -}}
{{- $rules := list -}}
{{- range .rules -}}
{{- if not (has (.alert | default "") $rule.disabledAlerts) -}}
{{- if and .alert (not (and (eq .alert "DepotMemoryHigh") (eq $limit "0"))) -}}
{{- $link := ternary (dict "runbook_url" (printf "%s#%s" $rule.runbookBaseUrl (lower .alert))) dict (ne $rule.runbookBaseUrl "") -}}
{{- $notes := merge $link .annotations -}}
{{- $rules = append $rules (merge (dict "annotations" $notes) .) -}}
{{- else if .record -}}
{{- $rules = append $rules . -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- $groups = append $groups (dict "name" (printf "%s-%s" $release .name) "rules" $rules) -}}
{{- end -}}
{{- end -}}
groups:
{{ toYaml $groups }}
{{- end }}
