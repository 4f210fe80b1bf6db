{{- /* Dex's configuration: broker.config with defaults. */ -}}
{{- define "depot.broker.config" -}}
{{- $v := .Values -}}
{{- $f := include "depot.facts" . | fromYaml -}}
{{- $grants := list "authorization_code" "refresh_token" "urn:ietf:params:oauth:grant-type:device_code" -}}
{{- if $v.server.oidc.allowClientCredentials -}}{{- $grants = append $grants "client_credentials" -}}{{- end -}}
{{- $filled := dict
  "issuer" $f.issuerUrl
  "web" (dict "http" "0.0.0.0:5556")
  "telemetry" (dict "http" "0.0.0.0:5558")
  "logger" (dict "level" $v.broker.logLevel "format" "json")
  "oauth2" (dict "responseTypes" (list "code") "grantTypes" $grants "skipApprovalScreen" true)
  "expiry" (dict "idTokens" "1h" "signingKeys" "6h" "deviceRequests" "5m" "authRequests" "24h")
-}}
{{- $config := merge (deepCopy $v.broker.config) $filled -}}
{{- if not $config.storage -}}
{{- $_ := set $config "storage" (dict "type" "kubernetes" "config" (dict "inCluster" true)) -}}
{{- end -}}
{{- if not $config.staticClients -}}
{{- $_ := set $config "staticClients" (include "depot.broker.clients" . | fromYamlArray) -}}
{{- end -}}
{{ toYaml $config }}
{{- end }}

{{- define "depot.broker.clients" -}}
{{- $v := .Values -}}
{{- $oidc := $v.server.oidc -}}
# No secret: Dex compares the one of every client, and CLIs send none.
- id: {{ $oidc.clientId | quote }}
  name: Terraform and OpenTofu
  public: true
  redirectURIs:
    {{- range untilStep 10000 10011 1 }}
    - http://localhost:{{ . }}/login
    {{- end }}
{{- if $oidc.allowClientCredentials }}
- id: {{ printf "%s-machine" $oidc.clientId | quote }}
  name: Machines
  secretEnv: DEPOT_BROKER_CLIENT_SECRET
{{- end }}
{{- if and $v.ui.enabled $v.ui.oidc.enabled }}
- id: {{ $v.ui.oidc.clientId | quote }}
  name: Explorer
  secretEnv: DEPOT_BROKER_UI_CLIENT_SECRET
  redirectURIs:
    - {{ printf "%s%s" $v.ui.baseUrl $v.ui.oidc.callbackPath | quote }}
{{- end }}
{{- end }}

{{- define "depot.broker.env" -}}
{{- $v := .Values -}}
{{- $oidc := $v.server.oidc -}}
- name: POD_NAMESPACE
  from: global.namespace
  value: {{ include "depot.namespace" . | quote }}
# Where Dex keeps its records, as it finds out about its own namespace.
- name: KUBERNETES_POD_NAMESPACE
  from: global.namespace
  value: {{ include "depot.namespace" . | quote }}
{{- if and $oidc.enabled (or $oidc.clientSecret $oidc.clientSecretName) }}
- name: DEPOT_BROKER_CLIENT_SECRET
  from: {{ ternary "server.oidc.clientSecretName" "server.oidc.clientSecret" (ne $oidc.clientSecretName "") }}
  valueFrom:
    secretKeyRef:
      name: {{ $oidc.clientSecretName | default (printf "%s-client" (include "depot.component" (dict "root" . "component" "broker"))) | quote }}
      key: clientSecret
{{- end }}
{{- if and $v.ui.enabled $v.ui.oidc.enabled }}
- name: DEPOT_BROKER_UI_CLIENT_SECRET
  from: ui.oidc.clientSecretName
  valueFrom:
    secretKeyRef:
      name: {{ $v.ui.oidc.clientSecretName | quote }}
      key: clientSecret
{{- end }}
{{- end }}

{{- define "depot.broker.volumes" -}}
- name: config
  from: broker.config
  secret:
    secretName: {{ include "depot.component" (dict "root" . "component" "broker") | quote }}
    defaultMode: 0440
- name: tmp
  from: the read-only root file system
  emptyDir:
    sizeLimit: 16Mi
{{- end }}

{{- define "depot.broker.mounts" -}}
- {name: config, mountPath: /etc/dex/depot, readOnly: true, from: broker.config}
- {name: tmp, mountPath: /tmp, from: the read-only root file system}
{{- end }}
