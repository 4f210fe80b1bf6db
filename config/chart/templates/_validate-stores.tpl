{{- define "depot.validate.stores" -}}
{{- $v := .v -}}
{{- $servers := int .facts.mostServers -}}
{{- if and (gt $servers 1) (not $v.valkey.enabled) (not $v.server.stats.valkeyAddr) -}}
{{- include "depot.found" (dict "in" . "text" "V20 download counts would be in one SQLite file per pod, and each replica would show different numbers; enable valkey, set server.stats.valkeyAddr, or use one replica") -}}
{{- end -}}
{{- if and $v.valkey.enabled $v.server.stats.valkeyAddr -}}
{{- include "depot.found" (dict "in" . "text" "V21 use the bundled valkey or server.stats.valkeyAddr, not both (valkey.enabled=false)") -}}
{{- end -}}
{{- if and $v.valkey.enabled $v.valkey.auth.enabled (not $v.valkey.auth.usersExistingSecret) -}}
{{- include "depot.found" (dict "in" . "text" "V22 valkey.auth.usersExistingSecret is required (Secret with key default)") -}}
{{- end -}}
{{- if and $v.valkey.enabled (ne (int $v.valkey.replicaCount) 1) -}}
{{- include "depot.found" (dict "in" . "text" "V22 the bundled valkey runs one pod; for more, set server.stats.valkeyAddr") -}}
{{- end -}}
{{- $f := $v.storage.filesystem -}}
{{- if $f.enabled -}}
{{- $pods := add $servers (ternary (int $v.controller.replicaCount) 0 $v.controller.enabled) -}}
{{- $once := and (eq $f.accessMode "ReadWriteOnce") (not $f.singleNode) -}}
{{- if and (gt (int $pods) 1) $f.hostPath (not $f.singleNode) -}}
{{- include "depot.found" (dict "in" . "text" (printf "V23 storage.filesystem.hostPath is a folder of one node and cannot be shared by %d pods on several nodes; use singleNode=true, or a claim with ReadWriteMany" (int $pods))) -}}
{{- else if and (gt (int $pods) 1) (or $once (eq $f.accessMode "ReadWriteOncePod")) -}}
{{- include "depot.found" (dict "in" . "text" (printf "V23 storage.filesystem.accessMode=%s cannot be shared by %d pods on several nodes; use ReadWriteMany or singleNode=true" $f.accessMode (int $pods))) -}}
{{- end -}}
{{- if and (eq $f.accessMode "ReadOnlyMany") $v.controller.enabled -}}
{{- include "depot.found" (dict "in" . "text" "V23 storage.filesystem.accessMode=ReadOnlyMany does not let the controller store archives; use ReadWriteMany or controller.enabled=false") -}}
{{- end -}}
{{- if and $f.hostPath $f.existingClaim -}}
{{- include "depot.found" (dict "in" . "text" "V23 set only one of hostPath and existingClaim") -}}
{{- end -}}
{{- end -}}
{{- if and $v.server.tls.enabled (not $v.server.tls.secretName) (not $v.server.tls.certManager.enabled) -}}
{{- include "depot.found" (dict "in" . "text" "V24 server.tls.secretName is required (Secret of type kubernetes.io/tls), or enable server.tls.certManager") -}}
{{- end -}}
{{- if and (ne $v.apiGroup "depot.internal") $v.crds.install -}}
{{- include "depot.found" (dict "in" . "text" (printf "V28 the CRDs of %s belong to another installation; set crds.install=false" $v.apiGroup)) -}}
{{- end -}}
{{- end }}

{{- define "depot.validate.scaling" -}}
{{- $in := . -}}
{{- range $c := list "server" "ui" -}}
{{- $values := index $in.v $c -}}
{{- $auto := $values.autoscaling -}}
{{- if and $values.enabled $auto.enabled (gt (int $auto.minReplicas) (int $auto.maxReplicas)) -}}
{{- include "depot.found" (dict "in" $in "text" (printf "V27 %s.autoscaling.minReplicas (%d) is above maxReplicas (%d)" $c (int $auto.minReplicas) (int $auto.maxReplicas))) -}}
{{- end -}}
{{- $b := $values.podDisruptionBudget -}}
{{- if and $values.enabled $b.enabled -}}
{{- $min := toString $b.minAvailable -}}
{{- if and (ne $min "") (ne (toString $b.maxUnavailable) "") -}}
{{- include "depot.found" (dict "in" $in "text" (printf "V26 %s.podDisruptionBudget takes minAvailable or maxUnavailable, not both" $c)) -}}
{{- end -}}
{{- if ne $min "" -}}
{{- $pods := int (ternary $auto.minReplicas $values.replicaCount $auto.enabled) -}}
{{- $stay := int (trimSuffix "%" $min) -}}
{{- if hasSuffix "%" $min -}}{{- $stay = div (add (mul $stay $pods) 99) 100 | int -}}{{- end -}}
{{- if ge $stay $pods -}}
{{- include "depot.found" (dict "in" $in "text" (printf "V26 %s.podDisruptionBudget.minAvailable=%s with %d replicas would block every node drain" $c $min $pods)) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end }}
