{{- /* Every flag of the server that a value sets: its text (empty: not set) and the name of the value. */ -}}
{{- define "depot.server.options" -}}
{{- $v := .Values -}}
{{- $f := include "depot.facts" . | fromYaml -}}
{{- $oidc := $v.server.oidc -}}
- {flag: listen, text: {{ printf ":%d" (int $v.server.service.targetPort) | quote }}, from: server.service.targetPort}
- {flag: admin-listen, text: {{ printf ":%d" (int $v.server.adminPort) | quote }}, from: server.adminPort}
- {flag: tls-cert-path, text: {{ ternary $v.server.tls.certPath "" $v.server.tls.enabled | quote }}, from: server.tls.certPath}
- {flag: tls-cert-key, text: {{ ternary $v.server.tls.keyPath "" $v.server.tls.enabled | quote }}, from: server.tls.keyPath}
- {flag: base-url, text: {{ $f.baseUrl | quote }}, from: server.baseUrl}
- {flag: trust-proxy, switch: true, text: {{ $f.trustProxy | quote }}, from: server.trustProxy}
- {flag: mcp, switch: true, text: {{ $v.server.mcp.enabled | quote }}, from: server.mcp.enabled}
- {flag: api-group, text: {{ $v.apiGroup | quote }}, from: apiGroup}
- {flag: watch-namespace, text: {{ ternary (include "depot.namespace" .) "" $v.rbac.scopeToNamespace | quote }}, from: rbac.scopeToNamespace}
- {flag: namespace, text: {{ include "depot.namespace" . | quote }}, from: global.namespace}
- {flag: anonymous-auth, switch: true, text: {{ $v.server.anonymousAuth | quote }}, from: server.anonymousAuth}
- {flag: use-bearer-token, switch: true, text: {{ $f.bearer | quote }}, from: server.useBearerToken}
- {flag: oidc-issuer-url, text: {{ ternary $f.issuerUrl "" $oidc.enabled | quote }}, from: server.oidc.issuerUrl}
- {flag: oidc-client-id, text: {{ ternary $oidc.clientId "" $oidc.enabled | quote }}, from: server.oidc.clientId}
- {flag: oidc-groups-claim, text: {{ ternary $oidc.groupsClaim "" $oidc.enabled | quote }}, from: server.oidc.groupsClaim}
- {flag: oidc-authz-url, text: {{ ternary $oidc.authzUrl "" $oidc.enabled | quote }}, from: server.oidc.authzUrl}
- {flag: oidc-token-url, text: {{ ternary $oidc.tokenUrl "" $oidc.enabled | quote }}, from: server.oidc.tokenUrl}
- {flag: oidc-scopes, text: {{ ternary (join "," $oidc.scopes) "" $oidc.enabled | quote }}, from: server.oidc.scopes}
- {flag: oidc-ui-client-id, text: {{ ternary $v.ui.oidc.clientId "" (and $oidc.enabled $v.ui.enabled $v.ui.oidc.enabled) | quote }}, from: ui.oidc.clientId}
- {flag: oidc-allow-sa-fallback, switch: true, text: {{ and $oidc.enabled $oidc.allowServiceAccountFallback | quote }}, from: server.oidc.allowServiceAccountFallback}
- {flag: oidc-allow-client-credentials, switch: true, text: {{ and $oidc.enabled $oidc.allowClientCredentials | quote }}, from: server.oidc.allowClientCredentials}
- {flag: publish-issuers, text: {{ ternary "/etc/depot/publish-issuers/issuers.yaml" "" (not (empty $v.server.publishIssuers)) | quote }}, from: server.publishIssuers}
- {flag: consumer-groups, text: {{ ternary $oidc.consumerGroups "" $oidc.enabled | quote }}, from: server.oidc.consumerGroups}
- {flag: consumer-persons, switch: true, text: {{ and $oidc.enabled $oidc.consumerPersons | quote }}, from: server.oidc.consumerPersons}
- {flag: broker-proxy-url, text: {{ ternary $f.brokerUrl "" $oidc.brokerProxy.enabled | quote }}, from: server.oidc.brokerProxy.enabled}
- {flag: sync-url, text: {{ ternary (printf "http://%s:%d" (include "depot.host" (dict "root" . "component" "controller")) (int $v.controller.port)) "" $v.controller.enabled | quote }}, from: controller.enabled}
- {flag: passthrough-cache-ttl, text: {{ $v.server.apiAccess.passthroughCacheTtl | quote }}, from: server.apiAccess.passthroughCacheTtl}
- {flag: archives, text: {{ ternary $v.storage.filesystem.mountPath "" $v.storage.filesystem.enabled | quote }}, from: storage.filesystem.mountPath}
- {flag: archive-cache-dir, text: {{ ternary "/var/lib/depot/archives" "" $v.server.archiveCache.enabled | quote }}, from: server.archiveCache.enabled}
- {flag: archive-cache-size, text: {{ ternary (include "depot.bytes" $v.server.archiveCache.size) "" $v.server.archiveCache.enabled | quote }}, from: server.archiveCache.size}
- {flag: gpg-private-key-path, text: {{ ternary "/etc/depot/gpg/private-key.asc" "" (ne $v.server.gpg.secretName "") | quote }}, from: server.gpg.secretName}
- {flag: stats-valkey-addr, text: {{ $f.valkeyAddr | quote }}, from: {{ ternary "valkey.enabled" "server.stats.valkeyAddr" $v.valkey.enabled }}}
- {flag: stats-path, text: /var/lib/depot/stats.db, from: server.stats.persistence.enabled}
- {flag: stats-refresh-interval, text: {{ $v.server.stats.refreshInterval | quote }}, from: server.stats.refreshInterval}
- {flag: presign-modules, switch: true, text: {{ $v.server.presignModules | quote }}, from: server.presignModules}
- {flag: storage-grants, text: {{ join "," $v.server.storageGrants | quote }}, from: server.storageGrants}
- {flag: audit-log, text: {{ $v.server.auditLog | quote }}, from: server.auditLog}
- {flag: shutdown-delay, text: {{ $v.server.shutdownDelay | quote }}, from: server.shutdownDelay}
- {flag: shutdown-grace-period, text: {{ $v.server.shutdownGracePeriod | quote }}, from: server.shutdownGracePeriod}
- {flag: log-level, text: {{ $v.server.logLevel | quote }}, from: server.logLevel}
{{- end }}

{{- define "depot.server.env" -}}
{{- $v := .Values -}}
{{- $f := include "depot.facts" . | fromYaml -}}
- name: POD_NAMESPACE
  from: global.namespace
  value: {{ include "depot.namespace" . | quote }}
{{- with include "depot.heapMiB" (dict "root" . "component" "server") }}
- name: NODE_OPTIONS
  from: server.resources.limits.memory
  value: --max-old-space-size={{ . }} --diagnostic-dir=/var/lib/depot
{{- end }}
{{- if $v.server.gpg.secretName }}
- name: DEPOT_GPG_PASSPHRASE
  from: server.gpg.passphraseKey
  valueFrom:
    secretKeyRef:
      name: {{ $v.server.gpg.secretName | quote }}
      key: {{ $v.server.gpg.passphraseKey | quote }}
      optional: true
{{- end }}
{{- with $f.valkeyPasswordSecret }}
- name: DEPOT_VALKEY_PASSWORD
  from: {{ ternary "server.stats.valkeyPasswordSecretName" "valkey.auth.usersExistingSecret" (ne $v.server.stats.valkeyPasswordSecretName "") }}
  valueFrom:
    secretKeyRef:
      name: {{ . | quote }}
      key: {{ $v.server.stats.valkeyPasswordKey | quote }}
{{- end }}
{{- end }}

{{- /* The volume "data" of a StatefulSet comes from its claim template, if it has no existing claim. */ -}}
{{- define "depot.server.volumes" -}}
{{- $v := .Values -}}
{{- $f := include "depot.facts" . | fromYaml -}}
- name: tmp
  from: the read-only root file system
  emptyDir:
    sizeLimit: 64Mi
{{- if and $v.server.stats.persistence.enabled $v.server.stats.persistence.existingClaim }}
- name: data
  from: server.stats.persistence.existingClaim
  persistentVolumeClaim:
    claimName: {{ $v.server.stats.persistence.existingClaim | quote }}
{{- else if not $v.server.stats.persistence.enabled }}
- name: data
  from: server.stats.persistence.enabled
  emptyDir:
    sizeLimit: {{ $v.server.stats.persistence.size }}
{{- end }}
{{- if $v.server.archiveCache.enabled }}
- name: archives
  from: server.archiveCache.enabled
  emptyDir:
    sizeLimit: {{ div (mul (include "depot.bytes" $v.server.archiveCache.size | int64) 11) 10 | quote }}
{{- end }}
{{- if $v.storage.filesystem.enabled }}
- {{ include "depot.archiveVolume" . | nindent 2 | trim }}
{{- end }}
{{- if $v.server.tls.enabled }}
- name: tls
  from: server.tls.secretName
  secret:
    secretName: {{ $f.tlsSecret | quote }}
    defaultMode: 0440
{{- end }}
{{- if $v.server.gpg.secretName }}
- name: gpg
  from: server.gpg.secretName
  secret:
    secretName: {{ $v.server.gpg.secretName | quote }}
    defaultMode: 0440
    items:
      - key: {{ $v.server.gpg.privateKeyKey | quote }}
        path: private-key.asc
{{- end }}
{{- if $v.server.publishIssuers }}
- name: publish-issuers
  from: server.publishIssuers
  configMap:
    name: {{ include "depot.publishIssuers" . | quote }}
    defaultMode: 0444
{{- end }}
{{- end }}

{{- define "depot.server.mounts" -}}
{{- $v := .Values -}}
- {name: tmp, mountPath: /tmp, from: the read-only root file system}
- {name: data, mountPath: /var/lib/depot, from: server.stats.persistence.enabled}
{{- if $v.server.archiveCache.enabled }}
- {name: archives, mountPath: /var/lib/depot/archives, from: server.archiveCache.enabled}
{{- end }}
{{- if $v.storage.filesystem.enabled }}
- {name: modules, mountPath: {{ $v.storage.filesystem.mountPath | quote }}, readOnly: true, from: storage.filesystem.mountPath}
{{- end }}
{{- if $v.server.tls.enabled }}
- {name: tls, mountPath: {{ dir $v.server.tls.certPath | quote }}, readOnly: true, from: server.tls.certPath}
{{- end }}
{{- if $v.server.gpg.secretName }}
- {name: gpg, mountPath: /etc/depot/gpg, readOnly: true, from: server.gpg.secretName}
{{- end }}
{{- if $v.server.publishIssuers }}
- {name: publish-issuers, mountPath: /etc/depot/publish-issuers, readOnly: true, from: server.publishIssuers}
{{- end }}
{{- end }}
