{{- /* Every flag of the controller that a value sets: its text (empty: not set) and the name of the value. */ -}}
{{- define "depot.controller.options" -}}
{{- $v := .Values -}}
{{- $c := $v.controller -}}
{{- $f := include "depot.facts" . | fromYaml -}}
{{- $oidc := $v.server.oidc -}}
- {flag: listen, text: {{ printf ":%d" (int $c.port) | quote }}, from: controller.port}
- {flag: admin-listen, text: {{ printf ":%d" (int $c.adminPort) | quote }}, from: controller.adminPort}
- {flag: api-group, text: {{ $v.apiGroup | quote }}, from: apiGroup}
- {flag: watch-namespaces, text: {{ ternary (include "depot.namespace" .) "" $v.rbac.scopeToNamespace | quote }}, from: rbac.scopeToNamespace}
- {flag: namespace, text: {{ include "depot.namespace" . | quote }}, from: global.namespace}
- {flag: use-bearer-token, switch: true, text: {{ $f.bearer | quote }}, from: server.useBearerToken}
- {flag: oidc-issuer-url, text: {{ ternary $f.issuerUrl "" $oidc.enabled | quote }}, from: server.oidc.issuerUrl}
- {flag: oidc-client-id, text: {{ ternary $oidc.clientId "" $oidc.enabled | quote }}, from: server.oidc.clientId}
- {flag: oidc-groups-claim, text: {{ ternary $oidc.groupsClaim "" $oidc.enabled | quote }}, from: server.oidc.groupsClaim}
- {flag: oidc-ui-client-id, text: {{ ternary $v.ui.oidc.clientId "" (and $oidc.enabled $v.ui.enabled $v.ui.oidc.enabled) | quote }}, from: ui.oidc.clientId}
- {flag: oidc-allow-sa-fallback, switch: true, text: {{ and $oidc.enabled $oidc.allowServiceAccountFallback | quote }}, from: server.oidc.allowServiceAccountFallback}
- {flag: oidc-allow-client-credentials, switch: true, text: {{ and $oidc.enabled $oidc.allowClientCredentials | quote }}, from: server.oidc.allowClientCredentials}
- {flag: publish-issuers, text: {{ ternary "/etc/depot/publish-issuers/issuers.yaml" "" (not (empty $v.server.publishIssuers)) | quote }}, from: server.publishIssuers}
- {flag: broker-proxy-url, text: {{ ternary $f.brokerUrl "" $oidc.brokerProxy.enabled | quote }}, from: server.oidc.brokerProxy.enabled}
- {flag: passthrough-cache-ttl, text: {{ $v.server.apiAccess.passthroughCacheTtl | quote }}, from: server.apiAccess.passthroughCacheTtl}
- {flag: publish-template, text: {{ $c.publishTemplate | quote }}, from: controller.publishTemplate}
- {flag: lease-name, text: {{ include "depot.component" (dict "root" . "component" "controller") | quote }}, from: fullnameOverride}
- {flag: backup-lease, text: {{ ternary (include "depot.component" (dict "root" . "component" "backup")) "" $v.backup.enabled | quote }}, from: backup.enabled}
- {flag: concurrency, text: {{ $c.concurrency | quote }}, from: controller.concurrency}
- {flag: archives, text: {{ ternary $v.storage.filesystem.mountPath "" $v.storage.filesystem.enabled | quote }}, from: storage.filesystem.mountPath}
- {flag: spool-dir, text: /var/lib/depot/spool, from: controller.spool.size}
- {flag: spool-size, text: {{ include "depot.bytes" $c.spool.size | quote }}, from: controller.spool.size}
- {flag: module-size-limit, text: {{ include "depot.bytes" $c.limits.moduleSize | quote }}, from: controller.limits.moduleSize}
- {flag: module-unpacked-limit, text: {{ include "depot.bytes" $c.limits.moduleUnpacked | quote }}, from: controller.limits.moduleUnpacked}
- {flag: provider-size-limit, text: {{ include "depot.bytes" $c.limits.providerSize | quote }}, from: controller.limits.providerSize}
- {flag: provider-unpacked-limit, text: {{ include "depot.bytes" $c.limits.providerUnpacked | quote }}, from: controller.limits.providerUnpacked}
- {flag: github-secret-name, text: {{ $c.github.secretName | quote }}, from: controller.github.secretName}
- {flag: github-api-url, text: {{ $c.github.apiUrl | quote }}, from: controller.github.apiUrl}
- {flag: upstream-hosts, text: {{ join "," $c.upstreamHosts | quote }}, from: controller.upstreamHosts}
- {flag: source-hosts, text: {{ join "," $c.sourceHosts | quote }}, from: controller.sourceHosts}
- {flag: egress-allow, text: {{ join "," $c.egress.allow | quote }}, from: controller.egress.allow}
- {flag: egress-private-cidrs, text: {{ join "," $c.egress.privateCidrs | quote }}, from: controller.egress.privateCidrs}
- {flag: egress-public-downloads, text: {{ $c.egress.publicDownloads | quote }}, from: controller.egress.publicDownloads}
- {flag: egress-ca-path, text: {{ ternary "/etc/depot/egress/ca.crt" "" (ne $c.egress.caSecretName "") | quote }}, from: controller.egress.caSecretName}
- {flag: upstream-policy, text: {{ ternary "/etc/depot/upstream-policy/policy.yaml" "" (not (empty $c.upstreamPolicy)) | quote }}, from: controller.upstreamPolicy}
- {flag: provider-sources, switch: true, text: {{ and $v.scanning.enabled $v.scanning.providerScanning | quote }}, from: scanning.providerScanning}
- {flag: storage-grants, text: {{ join "," $c.storageGrants | quote }}, from: controller.storageGrants}
- {flag: require-storage-grants, text: {{ ternary "true" "" $c.requireStorageGrants | quote }}, from: controller.requireStorageGrants}
- {flag: events-webhook, text: {{ $c.events.url | quote }}, from: controller.events.url}
- {flag: sweep-delete, text: {{ $c.sweepDelete | quote }}, from: controller.sweepDelete}
- {flag: verify-interval, text: {{ $c.verifyInterval | quote }}, from: controller.verifyInterval}
- {flag: rehash-interval, text: {{ $c.rehashInterval | quote }}, from: controller.rehashInterval}
- {flag: removal-grace, text: {{ $c.removalGrace | quote }}, from: controller.removalGrace}
- {flag: shutdown-grace-period, text: {{ $c.shutdownGracePeriod | quote }}, from: controller.shutdownGracePeriod}
- {flag: log-level, text: {{ $c.logLevel | quote }}, from: controller.logLevel}
{{- end }}

{{- define "depot.controller.upstreamPolicy" -}}
{{- printf "%s-upstream-policy" (include "depot.component" (dict "root" . "component" "controller")) -}}
{{- end }}

{{- define "depot.controller.env" -}}
- name: POD_NAMESPACE
  from: global.namespace
  value: {{ include "depot.namespace" . | quote }}
{{- with .Values.controller.events.secretName }}
- name: DEPOT_EVENTS_WEBHOOK_KEY
  from: controller.events.secretName
  valueFrom:
    secretKeyRef:
      name: {{ . | quote }}
      key: key
{{- end }}
{{- with include "depot.heapMiB" (dict "root" . "component" "controller") }}
- name: NODE_OPTIONS
  from: controller.resources.limits.memory
  value: --max-old-space-size={{ . }} --diagnostic-dir=/var/lib/depot/spool
{{- end }}
{{- end }}

{{- /* The spool stores archives in transit. The volume is a tenth larger than the controller's limit. */ -}}
{{- define "depot.controller.volumes" -}}
{{- $v := .Values -}}
{{- $spool := $v.controller.spool -}}
{{- $room := div (mul (include "depot.bytes" $spool.size | int64) 11) 10 | quote -}}
- name: tmp
  from: the read-only root file system
  emptyDir:
    sizeLimit: 64Mi
- name: spool
  from: controller.spool.size
  {{- if $spool.storageClassName }}
  ephemeral:
    volumeClaimTemplate:
      spec:
        accessModes: [ReadWriteOnce]
        storageClassName: {{ $spool.storageClassName | quote }}
        resources:
          requests:
            storage: {{ $room }}
  {{- else }}
  emptyDir:
    sizeLimit: {{ $room }}
  {{- end }}
{{- if $v.storage.filesystem.enabled }}
- {{ include "depot.archiveVolume" . | nindent 2 | trim }}
{{- end }}
{{- if $v.controller.upstreamPolicy }}
- name: upstream-policy
  from: controller.upstreamPolicy
  configMap:
    name: {{ include "depot.controller.upstreamPolicy" . | quote }}
    defaultMode: 0444
{{- end }}
{{- with $v.controller.egress.caSecretName }}
- name: egress
  from: controller.egress.caSecretName
  secret:
    secretName: {{ . | quote }}
    defaultMode: 0440
    items:
      - key: ca.crt
        path: ca.crt
{{- end }}
{{- if $v.server.publishIssuers }}
- name: publish-issuers
  from: server.publishIssuers
  configMap:
    name: {{ include "depot.publishIssuers" . | quote }}
    defaultMode: 0444
{{- end }}
{{- end }}

{{- define "depot.controller.mounts" -}}
{{- $v := .Values -}}
- {name: tmp, mountPath: /tmp, from: the read-only root file system}
- {name: spool, mountPath: /var/lib/depot/spool, from: controller.spool.size}
{{- if $v.storage.filesystem.enabled }}
- {name: modules, mountPath: {{ $v.storage.filesystem.mountPath | quote }}, from: storage.filesystem.mountPath}
{{- end }}
{{- if $v.controller.upstreamPolicy }}
- {name: upstream-policy, mountPath: /etc/depot/upstream-policy, readOnly: true, from: controller.upstreamPolicy}
{{- end }}
{{- if $v.controller.egress.caSecretName }}
- {name: egress, mountPath: /etc/depot/egress, readOnly: true, from: controller.egress.caSecretName}
{{- end }}
{{- if $v.server.publishIssuers }}
- {name: publish-issuers, mountPath: /etc/depot/publish-issuers, readOnly: true, from: server.publishIssuers}
{{- end }}
{{- end }}
