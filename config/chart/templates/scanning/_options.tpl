{{- /* Every flag of the scanner that a value sets: its text (empty: not set) and the name of the value. */ -}}
{{- define "depot.scanning.options" -}}
{{- $v := .Values -}}
{{- $s := $v.scanning -}}
{{- $limits := $v.controller.limits -}}
- {flag: api-group, text: {{ $v.apiGroup | quote }}, from: apiGroup}
- {flag: watch-namespaces, text: {{ ternary (include "depot.namespace" .) "" $v.rbac.scopeToNamespace | quote }}, from: rbac.scopeToNamespace}
- {flag: log-level, text: {{ $s.logLevel | quote }}, from: scanning.logLevel}
- {flag: archives, text: {{ ternary $v.storage.filesystem.mountPath "" $v.storage.filesystem.enabled | quote }}, from: storage.filesystem.mountPath}
- {flag: trivy-cache-dir, text: {{ $s.cacheMountPath | quote }}, from: scanning.cacheMountPath}
- {flag: scanner-offline, text: {{ $s.offline | quote }}, from: scanning.offline}
- {flag: scan-providers, text: {{ $s.providerScanning | quote }}, from: scanning.providerScanning}
- {flag: block, text: {{ ternary (ternary "HIGH" "CRITICAL" $s.blockOnHigh) "" (or $s.blockOnHigh $s.blockOnCritical) | quote }}, from: scanning.blockOnCritical}
- {flag: scan-slots, text: {{ int $s.slots | quote }}, from: scanning.slots}
- {flag: scan-deadline, text: {{ $s.deadline | quote }}, from: scanning.deadline}
- {flag: rescan-interval, text: {{ $s.rescanInterval | quote }}, from: scanning.rescanInterval}
{{- /* The rest of the volume is for unpacked copies. */}}
- {flag: work-size, text: {{ div (include "depot.bytes" $s.workSize | int64) 5 | quote }}, from: scanning.workSize}
{{- /* The scanner reads the archives that the controller stores. */}}
- {flag: module-size-limit, text: {{ include "depot.bytes" $limits.moduleSize | quote }}, from: controller.limits.moduleSize}
- {flag: module-unpacked-limit, text: {{ include "depot.bytes" $limits.moduleUnpacked | quote }}, from: controller.limits.moduleUnpacked}
- {flag: provider-size-limit, text: {{ include "depot.bytes" $limits.providerSize | quote }}, from: controller.limits.providerSize}
- {flag: provider-unpacked-limit, text: {{ include "depot.bytes" $limits.providerUnpacked | quote }}, from: controller.limits.providerUnpacked}
{{- end }}

{{- define "depot.scanning.env" }}{{ end }}

{{- define "depot.scanning.volumes" -}}
{{- $s := .Values.scanning -}}
- name: tmp
  from: the read-only root file system
  emptyDir:
    sizeLimit: 64Mi
- name: work
  from: scanning.workSize
  emptyDir:
    sizeLimit: {{ $s.workSize }}
{{- if .Values.storage.filesystem.enabled }}
- {{ include "depot.archiveVolume" . | nindent 2 | trim }}
{{- end }}
- name: databases
  from: scanning.cacheMountPath
  persistentVolumeClaim:
    claimName: {{ $s.cache.existingClaim | default (include "depot.component" (dict "root" . "component" "scanning")) | quote }}
{{- end }}

{{- define "depot.scanning.mounts" -}}
{{- $s := .Values.scanning -}}
- {name: tmp, mountPath: /tmp, from: the read-only root file system}
- {name: work, mountPath: /var/lib/depot/scans, from: scanning.workSize}
{{- if .Values.storage.filesystem.enabled }}
- {name: modules, mountPath: {{ .Values.storage.filesystem.mountPath | quote }}, readOnly: true, from: storage.filesystem.mountPath}
{{- end }}
- {name: databases, mountPath: {{ $s.cacheMountPath | quote }}, readOnly: {{ $s.offline }}, from: scanning.cacheMountPath}
{{- end }}
