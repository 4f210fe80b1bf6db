{{- define "depot.validate.pods" -}}
{{- $found := .found -}}
{{- range $c := list "server" "ui" "controller" "broker" "valkey" -}}
{{- $values := index $.v $c -}}
{{- if $values.enabled -}}
{{- $limits := $values.resources.limits | default dict -}}
{{- range $name, $request := $values.resources.requests -}}
{{- $limit := get $limits $name -}}
{{- include "depot.check" (dict "found" $found "wrong" (dict
(printf "V33 %s.resources.requests.%s=%v is above the limit %v" $c $name $request $limit)
  (and (ne (toString $limit) "") (gt (include "depot.milli" $request | int64) (include "depot.milli" $limit | int64)))
)) -}}
{{- end -}}
{{- include "depot.check" (dict "found" $found "wrong" (dict
(printf "V33 %s.dnsPolicy=None needs %s.dnsConfig.nameservers" $c $c)
  (and (eq $values.dnsPolicy "None") (not $values.dnsConfig.nameservers))
)) -}}
{{- $drain := 0 -}}
{{- if not (or $values.lifecycle (eq $c "controller")) -}}{{- $drain = 5 -}}{{- end -}}
{{- range list $values.shutdownDelay $values.shutdownGracePeriod -}}
{{- $drain = addf $drain (include "depot.seconds" . | float64) -}}
{{- end -}}
{{- include "depot.check" (dict "found" $found "wrong" (dict
(printf "V33 %s.terminationGracePeriodSeconds=%d ends the pod before it has finished its requests; set %v or more" $c (int $values.terminationGracePeriodSeconds) $drain)
  (and $values.shutdownGracePeriod (lt (float64 $values.terminationGracePeriodSeconds) (float64 $drain)))
)) -}}
{{- end -}}
{{- end -}}
{{- end }}

{{- define "depot.validate.update" -}}
{{- $c := .v.server -}}
{{- $u := $c.updateStrategy -}}
{{- $kind := ternary "StatefulSet" "Deployment" $c.stats.persistence.enabled -}}
{{- $rolling := $u.rollingUpdate | default dict -}}
{{- $still := has (toString $rolling.maxSurge) (list "0" "0%") | and (has (toString $rolling.maxUnavailable) (list "0" "0%")) -}}
{{- include "depot.check" (dict "found" .found "wrong" (dict
(printf "V33 server.updateStrategy.type=%v is not a strategy of a %s, which the server is with server.stats.persistence.enabled=%v; write RollingUpdate or %s" $u.type $kind $c.stats.persistence.enabled (ternary "OnDelete" "Recreate" $c.stats.persistence.enabled))
  (eq (toString $u.type) (ternary "Recreate" "OnDelete" $c.stats.persistence.enabled))
"V33 server.updateStrategy.rollingUpdate needs server.updateStrategy.type=RollingUpdate"
  (and $u.rollingUpdate $u.type (ne $u.type "RollingUpdate"))
"V33 server.updateStrategy.rollingUpdate has no pod to add or to remove: maxSurge or maxUnavailable must be above 0"
  $still
)) -}}
{{- end }}

{{- /* Seconds of a duration such as 1h30m, or 0. */ -}}
{{- define "depot.seconds" -}}
{{- $sum := 0.0 -}}
{{- range regexFindAll "[0-9.]+(ms|s|m|h)" (. | default "") -1 -}}
{{- $unit := regexFind "[a-z]+$" . -}}
{{- $sum = addf $sum (mulf (trimSuffix $unit . | float64) (get (dict "ms" 0.001 "s" 1.0 "m" 60.0 "h" 3600.0) $unit)) -}}
{{- end -}}
{{ $sum }}
{{- end }}

{{- define "depot.validate.scaling" -}}
{{- $found := .found -}}
{{- range $c := list "server" "ui" -}}
{{- $values := index $.v $c -}}
{{- if $values.enabled -}}
{{- $auto := $values.autoscaling -}}
{{- $b := $values.podDisruptionBudget -}}
{{- $min := toString $b.minAvailable -}}
{{- $pods := int (ternary $auto.minReplicas $values.replicaCount $auto.enabled) -}}
{{- $stay := int (trimSuffix "%" $min) -}}
{{- if hasSuffix "%" $min -}}{{- $stay = div (add (mul $stay $pods) 99) 100 | int -}}{{- end -}}
{{- $cpu := (merge (dict) ($values.resources.requests | default dict) ($values.resources.limits | default dict)).cpu -}}
{{- include "depot.check" (dict "found" $found "wrong" (dict
(printf "V26 %s.podDisruptionBudget takes minAvailable or maxUnavailable, not both" $c)
  (and $b.enabled (ne $min "") (ne (toString $b.maxUnavailable) ""))
(printf "V26 %s.podDisruptionBudget.minAvailable=%s with %d replicas would block every node drain; set less than the number of replicas" $c $min $pods)
  (and $b.enabled (ne $min "") (ge $stay $pods))
(printf "V26 %s.podDisruptionBudget.maxUnavailable=%v would block every node drain; set 1 or more" $c $b.maxUnavailable)
  (and $b.enabled (has (toString $b.maxUnavailable) (list "0" "0%")))
(printf "V27 %s.autoscaling.minReplicas (%d) is above maxReplicas (%d)" $c (int $auto.minReplicas) (int $auto.maxReplicas))
  (and $auto.enabled (gt (int $auto.minReplicas) (int $auto.maxReplicas)))
(printf "V27 %s.autoscaling.enabled needs %s.resources.requests.cpu, of which the target is a percentage" $c $c)
  (and $auto.enabled (not $cpu))
)) -}}
{{- end -}}
{{- end -}}
{{- end }}

{{- define "depot.validate.monitoring" -}}
{{- $found := .found -}}
{{- $m := .v.monitoring -}}
{{- range $name := list "serviceMonitor" "podMonitor" -}}
{{- $s := index $m $name -}}
{{- include "depot.check" (dict "found" $found "wrong" (dict
(printf "V34 monitoring.%s.scrapeTimeout=%s is longer than the interval, %s" $name $s.scrapeTimeout $s.interval)
  (and $s.enabled $s.interval (gt (include "depot.seconds" $s.scrapeTimeout | float64) (include "depot.seconds" $s.interval | float64)))
)) -}}
{{- end -}}
{{- include "depot.check" (dict "found" $found "wrong" (dict
"V34 monitoring.serviceMonitor and monitoring.podMonitor scrape the same pods; enable one of them"
  (and $m.serviceMonitor.enabled $m.podMonitor.enabled)
)) -}}
{{- $alerts := list -}}
{{- range regexFindAll "alert: \\w+" (.root.Files.Get "files/alerts.yaml") -1 -}}{{- $alerts = append $alerts (trimPrefix "alert: " .) -}}{{- end -}}
{{- range $m.prometheusRule.disabledAlerts -}}
{{- include "depot.check" (dict "found" $found "wrong" (dict
(printf "V34 monitoring.prometheusRule.disabledAlerts names \"%s\"; the alerts are %s" . ($alerts | uniq | join ", "))
  (not (has . $alerts))
)) -}}
{{- end -}}
{{- end }}
