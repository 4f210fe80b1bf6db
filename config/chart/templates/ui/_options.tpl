{{- /* Every flag of the explorer that a value sets, as in depot.server.options. */ -}}
{{- define "depot.ui.options" -}}
{{- $v := .Values -}}
{{- $f := include "depot.facts" . | fromYaml -}}
{{- $oidc := $v.ui.oidc -}}
{{- $forwarded := or $v.ui.ingress.enabled $v.ui.route.enabled $v.server.ingress.istio.enabled -}}
- {flag: listen, text: ":3000", from: ui.service.port}
- {flag: admin-listen, text: ":9091", from: ui.service.port}
- {flag: server-url, text: {{ $f.serverUrl | quote }}, from: ui.serverHost}
- {flag: server-ca-path, text: {{ ternary "/etc/depot/server-ca/ca.crt" "" $v.server.tls.enabled | quote }}, from: server.tls.enabled}
- {flag: broker-url, text: {{ ternary $f.brokerUrl "" (and $oidc.enabled $v.broker.enabled) | quote }}, from: broker.enabled}
- {flag: trust-proxy, switch: true, text: {{ $forwarded | quote }}, from: ui.ingress.enabled}
- {flag: oidc-issuer-url, text: {{ ternary $f.uiIssuerUrl "" $oidc.enabled | quote }}, from: ui.oidc.issuerUrl}
- {flag: oidc-authz-url, text: {{ ternary $oidc.authzUrl "" $oidc.enabled | quote }}, from: ui.oidc.authzUrl}
- {flag: oidc-client-id, text: {{ ternary $oidc.clientId "" $oidc.enabled | quote }}, from: ui.oidc.clientId}
- {flag: oidc-scopes, text: {{ ternary $oidc.scopes "" $oidc.enabled | quote }}, from: ui.oidc.scopes}
- {flag: oidc-callback-path, text: {{ ternary $oidc.callbackPath "" $oidc.enabled | quote }}, from: ui.oidc.callbackPath}
- {flag: session-ttl, text: {{ $v.ui.sessionTtl | quote }}, from: ui.sessionTtl}
- {flag: dev-token-input, switch: true, text: {{ $v.ui.auth.devTokenInput.enabled | quote }}, from: ui.auth.devTokenInput.enabled}
- {flag: dist-path, text: /app/ui, from: the image}
- {flag: shutdown-delay, text: {{ $v.ui.shutdownDelay | quote }}, from: ui.shutdownDelay}
- {flag: shutdown-grace-period, text: {{ $v.ui.shutdownGracePeriod | quote }}, from: ui.shutdownGracePeriod}
- {flag: log-level, text: {{ $v.ui.logLevel | quote }}, from: ui.logLevel}
{{- end }}

{{- define "depot.ui.env" -}}
{{- $v := .Values -}}
{{- with include "depot.heapMiB" (dict "root" . "component" "ui") }}
- name: NODE_OPTIONS
  from: ui.resources.limits.memory
  value: --max-old-space-size={{ . }} --diagnostic-dir=/tmp
{{- end }}
{{- with $v.ui.baseUrl }}
- name: NEXT_PUBLIC_BASE_URL
  from: ui.baseUrl
  value: {{ . | quote }}
{{- end }}
{{- with $v.ui.sessionPasswordSecretName }}
- name: DEPOT_SESSION_PASSWORD
  from: ui.sessionPasswordSecretName
  valueFrom:
    secretKeyRef:
      name: {{ . | quote }}
      key: sessionPassword
{{- end }}
{{- if $v.ui.oidc.enabled }}
- name: DEPOT_OIDC_CLIENT_SECRET
  from: ui.oidc.clientSecretName
  valueFrom:
    secretKeyRef:
      name: {{ $v.ui.oidc.clientSecretName | quote }}
      key: clientSecret
{{- end }}
{{- end }}

{{- define "depot.ui.volumes" -}}
- name: tmp
  from: the read-only root file system
  emptyDir:
    sizeLimit: 64Mi
{{- if .Values.server.tls.enabled }}
- name: server-ca
  from: server.tls.secretName
  secret:
    secretName: {{ (include "depot.facts" . | fromYaml).tlsSecret | quote }}
    # A Secret that `kubectl create secret tls` made has no ca.crt: the authorities of the system are trusted then.
    optional: true
    items:
      - key: ca.crt
        path: ca.crt
{{- end }}
{{- end }}

{{- define "depot.ui.mounts" -}}
- {name: tmp, mountPath: /tmp, from: the read-only root file system}
{{- if .Values.server.tls.enabled }}
- {name: server-ca, mountPath: /etc/depot/server-ca, readOnly: true, from: server.tls.secretName}
{{- end }}
{{- end }}
