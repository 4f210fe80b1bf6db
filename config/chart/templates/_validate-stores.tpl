{{- define "depot.validate.stores" -}}
{{- $v := .v -}}
{{- $servers := int .facts.mostServers -}}
{{- $f := $v.storage.filesystem -}}
{{- $pods := add $servers (ternary (int $v.controller.replicaCount) 0 $v.controller.enabled) (ternary 1 0 $v.scanning.enabled) | int -}}
{{- $shared := and $f.enabled (gt $pods 1) -}}
{{- $folder := and $shared $f.hostPath (not $f.singleNode) -}}
{{- $once := or (and (eq $f.accessMode "ReadWriteOnce") (not $f.singleNode)) (eq $f.accessMode "ReadWriteOncePod") -}}
{{- $valkeyLimit := ($v.valkey.resources.limits | default dict).memory -}}
{{- include "depot.check" (dict "found" .found "wrong" (dict
"V20 download counts would be in one SQLite file per pod, and each replica would show different numbers; enable valkey, set server.stats.valkeyAddr, or use one replica"
  (and (gt $servers 1) (not $v.valkey.enabled) (not $v.server.stats.valkeyAddr))
"V21 use the bundled valkey or server.stats.valkeyAddr, not both (valkey.enabled=false)"
  (and $v.valkey.enabled $v.server.stats.valkeyAddr)
"V22 valkey.auth.usersExistingSecret is required (Secret with key default)"
  (and $v.valkey.enabled $v.valkey.auth.enabled (not $v.valkey.auth.usersExistingSecret))
"V22 the bundled valkey runs one pod; for more, set server.stats.valkeyAddr"
  (and $v.valkey.enabled (ne (int $v.valkey.replicaCount) 1))
(printf "V22 valkey.maxmemory=%s is above valkey.resources.limits.memory=%v; use half of the limit" $v.valkey.maxmemory $valkeyLimit)
  (and $v.valkey.enabled $valkeyLimit (gt (include "depot.valkeyBytes" $v.valkey.maxmemory | int64) (include "depot.bytes" $valkeyLimit | int64)))
(printf "V23 storage.filesystem.hostPath is a folder of one node and cannot be shared by %d pods on several nodes; use singleNode=true, or a claim with ReadWriteMany" $pods)
  $folder
(printf "V23 storage.filesystem.accessMode=%s cannot be shared by %d pods on several nodes; use ReadWriteMany or singleNode=true" $f.accessMode $pods)
  (and $shared $once (not $folder))
"V23 storage.filesystem.accessMode=ReadOnlyMany does not let the controller store archives; use ReadWriteMany or controller.enabled=false"
  (and $f.enabled (eq $f.accessMode "ReadOnlyMany") $v.controller.enabled)
(printf "V23 server.stats.persistence.existingClaim is one claim and cannot be shared by %d servers; use one replica, or claims of the chart" $servers)
  (and $v.server.stats.persistence.enabled $v.server.stats.persistence.existingClaim (gt $servers 1))
"V23 set only one of storage.filesystem.hostPath and storage.filesystem.existingClaim"
  (and $f.enabled $f.hostPath $f.existingClaim)
(printf "V28 the CRDs of %s belong to another installation; set crds.install=false" $v.apiGroup)
  (and $v.crds.install (ne $v.apiGroup "depot.internal"))
)) -}}
{{- end }}

{{- /* Bytes of a size in the notation of Valkey: 1k is 1000, and 1kb is 1024. */ -}}
{{- define "depot.valkeyBytes" -}}
{{- include "depot.bytes" (. | replace "kb" "Ki" | replace "mb" "Mi" | replace "gb" "Gi" | replace "m" "M" | replace "g" "G") -}}
{{- end }}
