{{- /* Facts that depend on several values, computed once. Read with `include "depot.facts" . | fromYaml`. */ -}}
{{- define "depot.facts" -}}
{{- $v := .Values -}}
{{- $server := dict "root" . "component" "server" -}}
{{- $valkey := dict "root" . "component" "valkey" -}}
{{- $broker := printf "http://%s:5556" (include "depot.host" (dict "root" . "component" "broker")) -}}
{{- $issuer := $v.server.oidc.issuerUrl -}}
{{- if and (not $issuer) $v.broker.enabled -}}
{{- $issuer = $v.broker.config.issuer | default (printf "%s/broker" $broker) -}}
{{- end -}}
{{- $forwarded := or $v.ui.enabled $v.server.ingress.enabled $v.server.ingress.istio.enabled $v.server.route.enabled -}}
{{- $bearer := $v.server.useBearerToken -}}
{{- if eq (toString $bearer) "auto" -}}{{- $bearer = not (or $v.server.oidc.enabled $v.server.anonymousAuth) -}}{{- end -}}
{{- $trust := $v.server.trustProxy -}}
{{- if eq (toString $trust) "auto" -}}{{- $trust = $forwarded -}}{{- end -}}
{{- $least := int $v.server.replicaCount -}}
{{- $most := $least -}}
{{- if $v.server.autoscaling.enabled -}}
{{- $least = int $v.server.autoscaling.minReplicas -}}
{{- $most = int $v.server.autoscaling.maxReplicas -}}
{{- end -}}
{{- $tls := $v.server.tls.secretName -}}
{{- if and (not $tls) $v.server.tls.certManager.enabled -}}{{- $tls = printf "%s-tls" (include "depot.component" $server) -}}{{- end -}}
issuerUrl: {{ $issuer | quote }}
uiIssuerUrl: {{ $v.ui.oidc.issuerUrl | default $issuer | quote }}
brokerUrl: {{ $broker | quote }}
bearer: {{ $bearer }}
trustProxy: {{ $trust }}
baseUrl: {{ $v.server.baseUrl | default (ternary $v.ui.baseUrl "" $v.ui.enabled) | quote }}
leastServers: {{ $least }}
mostServers: {{ $most }}
tlsSecret: {{ $tls | quote }}
{{- if $v.valkey.enabled }}
valkeyAddr: {{ printf "%s:6379" (include "depot.host" $valkey) | quote }}
{{- else }}
valkeyAddr: {{ $v.server.stats.valkeyAddr | quote }}
{{- end }}
{{- if $v.server.stats.valkeyPasswordSecretName }}
valkeyPasswordSecret: {{ $v.server.stats.valkeyPasswordSecretName | quote }}
{{- else if or $v.valkey.auth.enabled (and $v.server.stats.valkeyAddr (not $v.valkey.enabled)) }}
valkeyPasswordSecret: {{ $v.valkey.auth.usersExistingSecret | quote }}
{{- else }}
valkeyPasswordSecret: ""
{{- end }}
serverUrl: {{ printf "%s://%s" (ternary "https" "http" $v.server.tls.enabled) ($v.ui.serverHost | default (printf "%s:%v" (include "depot.host" $server) (int $v.server.service.port))) | quote }}
{{- end }}
