{{- /* Rules for this release, without disabled alerts. */ -}}
{{- define "depot.alerts" -}}
{{- $v := .Values -}}
{{- $rule := $v.monitoring.prometheusRule -}}
{{- $namespace := include "depot.namespace" . -}}
{{- $release := include "depot.fullname" . -}}
{{- /* The scanner needs the database only for providers. With a network, it downloads its own. */ -}}
{{- $needsDatabase := and $v.scanning.providerScanning $v.scanning.offline -}}
{{- $omitted := concat $rule.disabledAlerts (ternary list (list "DepotScanDatabaseMissing" "DepotScanDatabaseOld") $needsDatabase) -}}
{{- $of := dict -}}
{{- range $c := list "server" "ui" "controller" "scanning" -}}
{{- $_ := set $of $c (printf "namespace=\"%s\",job=\"%s-metrics\"" $namespace (include "depot.component" (dict "root" $ "component" $c))) -}}
{{- $limit := ((index $v $c).resources.limits | default dict).memory | default "0" -}}
{{- $_ := set $of (printf "%sLimit" $c) (include "depot.bytes" $limit) -}}
{{- end -}}
{{- $text := .Files.Get "files/alerts.yaml" -}}
{{- range $name, $value := dict
  "TARGET" $of.server
  "UI" $of.ui
  "CONTROLLER" $of.controller
  "SCANNING" $of.scanning
  "SERVER_LIMIT" $of.serverLimit
  "UI_LIMIT" $of.uiLimit
  "CONTROLLER_LIMIT" $of.controllerLimit
  "RECORDED" (printf "namespace=\"%s\",release=\"%s\"" $namespace $release)
  "PROTOCOL" "route=~\"/(depot/modules|depot/providers|v1|[.]well-known)/.*\""
  "BACKUP_SECONDS" (mul $v.backup.maxAgeHours 3600 | toString)
  "NAMESPACE" $namespace
  "RELEASE" $release
  "AVAILABILITY" (toString $rule.slo.availability)
  "BUDGET" (subf 1 (divf (float64 $rule.slo.availability) 100) | printf "%.6f" | trimSuffix "0" | regexFind "^[0-9.]*[1-9]")
-}}
{{- $text = $text | replace (printf "@%s@" $name) $value -}}
{{- end -}}
{{- $groups := list -}}
{{- range (fromYaml $text).groups -}}
{{- if or (not (has .name (list "ui" "controller" "backup" "scanning"))) (get $v .name | default dict).enabled -}}
{{- $rules := list -}}
{{- range .rules -}}
{{- if not (has (.alert | default "") $omitted) -}}
{{- if and .alert (not (hasSuffix "(0.9 * 0)" .expr)) -}}
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
