{{- /* Names, labels and addresses. Helpers of one component take (dict "root" $ "component" "server"). */ -}}

{{- define "depot.name" -}}
{{ .Values.nameOverride | default .Chart.Name | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- /* With "-controller-metrics", it fits into the 63 characters of a Service. */ -}}
{{- define "depot.fullname" -}}
{{- $name := include "depot.name" . -}}
{{- if .Values.fullnameOverride -}}
{{ .Values.fullnameOverride | trunc 43 | trimSuffix "-" }}
{{- else if contains $name .Release.Name -}}
{{ .Release.Name | trunc 43 | trimSuffix "-" }}
{{- else -}}
{{ printf "%s-%s" .Release.Name $name | trunc 43 | trimSuffix "-" }}
{{- end -}}
{{- end }}

{{- define "depot.namespace" -}}
{{ .Values.global.namespace | default .Release.Namespace }}
{{- end }}

{{- define "depot.component" -}}
{{- if and (eq .component "valkey") .root.Values.valkey.fullnameOverride -}}
{{ .root.Values.valkey.fullnameOverride }}
{{- else -}}
{{ include "depot.fullname" .root }}-{{ .component }}
{{- end -}}
{{- end }}

{{- /* Host name of a component's Service. */ -}}
{{- define "depot.host" -}}
{{ include "depot.component" . }}.{{ include "depot.namespace" .root }}.svc.{{ .root.Values.global.clusterDomain }}
{{- end }}

{{- define "depot.selector" -}}
app.kubernetes.io/name: {{ include "depot.name" .root | quote }}
app.kubernetes.io/instance: {{ .root.Release.Name | quote }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{- define "depot.labels" -}}
{{- $own := include "depot.selector" . | fromYaml -}}
{{- $chart := dict
  "app.kubernetes.io/version" (.root.Chart.AppVersion | replace "+" "_")
  "app.kubernetes.io/managed-by" .root.Release.Service
  "app.kubernetes.io/part-of" "depot"
  "helm.sh/chart" (printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" | trunc 63) -}}
{{ merge $own $chart (.labels | default dict) .root.Values.commonLabels | toYaml }}
{{- end }}

{{- /* Also takes "name", "namespace", "labels", "annotations", and "cluster" for objects without a namespace. */ -}}
{{- define "depot.metadata" -}}
name: {{ .name | default (include "depot.component" .) | quote }}
{{- if not .cluster }}
namespace: {{ .namespace | default (include "depot.namespace" .root) | quote }}
{{- end }}
labels:
  {{- include "depot.labels" . | nindent 2 }}
{{- with merge (dict) (.annotations | default dict) .root.Values.commonAnnotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- /* A component without its own image uses the global one, which has git under another tag. */ -}}
{{- define "depot.image" -}}
{{- $own := (index .root.Values .component).image -}}
{{- $all := .root.Values.global.image -}}
{{- $repository := $own.repository | default (list $all.registry $all.repository | compact | join "/") -}}
{{- $digest := $own.digest -}}
{{- if not (or $own.repository $own.tag $own.digest) -}}{{- $digest = $all.digest -}}{{- end -}}
{{- if $digest -}}
{{ $repository }}@{{ $digest }}
{{- else -}}
{{ $repository }}:{{ $own.tag | default (print ($all.tag | default .root.Chart.AppVersion) (get (dict "controller" "-git" "scanning" "-scanning") .component)) }}
{{- end -}}
{{- end }}

{{- define "depot.serviceAccountName" -}}
{{- $account := (index .root.Values .component).serviceAccount -}}
{{- if $account.name -}}
{{ $account.name }}
{{- else if and $account.create .root.Values.serviceAccount.create -}}
{{ include "depot.component" . }}
{{- else -}}
default
{{- end -}}
{{- end }}

{{- /* Bytes of a quantity such as 512Mi or 1G. */ -}}
{{- define "depot.bytes" -}}
{{ div (include "depot.milli" . | int64) 1000 }}
{{- end }}

{{- /* Thousandths of a quantity, because CPUs are counted in them. */ -}}
{{- define "depot.milli" -}}
{{- $units := dict "n" 0.000001 "u" 0.001 "m" 1 "" 1e3 "k" 1e6 "M" 1e9 "G" 1e12 "T" 1e15 "Ki" 1024e3 "Mi" 1048576e3 "Gi" 1073741824e3 "Ti" 1099511627776e3 -}}
{{- $text := toString . -}}
{{- $unit := regexFind "[A-Za-z]+$" $text -}}
{{ mulf (float64 (trimSuffix $unit $text)) (float64 (get $units $unit | default 1e3)) | floor | int64 }}
{{- end }}

{{- define "depot.publishIssuers" -}}
{{- printf "%s-publish-issuers" (include "depot.fullname" .) -}}
{{- end }}
