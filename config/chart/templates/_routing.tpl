{{- /* Paths of the server on a shared host, as whole path segments, because /depots is a page of the explorer. */ -}}
{{- define "depot.serverPaths" -}}
- /depot
- /v1/modules
- /v1/providers
- /.well-known
{{- if .Values.server.oidc.brokerProxy.enabled }}
- /broker
{{- end }}
{{- end }}

{{- /* The Service of server or explorer. */ -}}
{{- define "depot.service" -}}
{{- $s := (index .root.Values .component).service -}}
apiVersion: v1
kind: Service
metadata:
  {{- include "depot.metadata" (merge (dict "annotations" $s.annotations "labels" $s.labels) .) | nindent 2 }}
spec:
  type: {{ $s.type }}
  {{- range $key := ternary (list "loadBalancerIP" "loadBalancerClass" "loadBalancerSourceRanges") list (eq $s.type "LoadBalancer") }}
  {{- with index $s $key }}
  {{ $key }}: {{ toJson . }}
  {{- end }}
  {{- end }}
  {{- range $key := list "externalTrafficPolicy" "ipFamilyPolicy" "ipFamilies" }}
  {{- with index $s $key }}
  {{ $key }}: {{ toJson . }}
  {{- end }}
  {{- end }}
  selector:
    {{- include "depot.selector" . | nindent 4 }}
  ports:
    - name: {{ include "depot.portName" . | quote }}
      port: {{ int $s.port }}
      targetPort: http
      {{- with int $s.nodePort }}
      nodePort: {{ . }}
      {{- end }}
{{- end }}

{{- define "depot.ingressBackend" -}}
backend:
  service:
    name: {{ include "depot.component" . | quote }}
    port:
      name: {{ include "depot.portName" . | quote }}
{{- end }}

{{- define "depot.portName" -}}
{{ ternary "https" "http" (and (eq .component "server") .root.Values.server.tls.enabled) }}
{{- end }}

{{- /* "component": target of the paths that users set. */ -}}
{{- define "depot.ingress" -}}
{{- $c := index .root.Values .component -}}
{{- $paths := include "depot.serverPaths" .root | fromYamlArray -}}
{{- $server := dict "root" .root "component" "server" -}}
{{- $rest := . -}}
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  {{- include "depot.metadata" (merge (dict "annotations" $c.ingress.annotations) .) | nindent 2 }}
spec:
  {{- with $c.ingress.className }}
  ingressClassName: {{ . | quote }}
  {{- end }}
  {{- with $c.ingress.tls }}
  tls:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  rules:
    {{- range $c.ingress.hosts }}
    - host: {{ .host | quote }}
      http:
        paths:
          {{- range $paths }}
          - path: {{ . | quote }}
            pathType: Prefix
            {{- include "depot.ingressBackend" $server | nindent 12 }}
          {{- end }}
          {{- range .paths | default (list (dict "path" "/")) }}
          {{- if not (and (has .path $paths) (eq (.pathType | default "Prefix") "Prefix")) }}
          - path: {{ .path | quote }}
            pathType: {{ .pathType | default "Prefix" }}
            {{- include "depot.ingressBackend" $rest | nindent 12 }}
          {{- end }}
          {{- end }}
    {{- end }}
{{- end }}

{{- define "depot.httpRoute" -}}
{{- $c := index .root.Values .component -}}
{{- $v := .root.Values -}}
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata:
  {{- include "depot.metadata" (merge (dict "annotations" $c.route.annotations) .) | nindent 2 }}
spec:
  parentRefs:
    {{- toYaml $c.route.parentRefs | nindent 4 }}
  {{- with $c.route.hostnames }}
  hostnames:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  rules:
    - matches:
        {{- range include "depot.serverPaths" .root | fromYamlArray }}
        - path:
            type: PathPrefix
            value: {{ . }}
        {{- end }}
      {{- with $c.route.filters }}
      filters:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      # Archives may take as long as they take.
      timeouts:
        request: 0s
      backendRefs:
        - name: {{ include "depot.component" (dict "root" .root "component" "server") | quote }}
          port: {{ int $v.server.service.port }}
    - matches:
        - path:
            type: PathPrefix
            value: /
      {{- with $c.route.filters }}
      filters:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      timeouts:
        request: 0s
      backendRefs:
        - name: {{ include "depot.component" . | quote }}
          port: {{ int $c.service.port }}
{{- end }}
