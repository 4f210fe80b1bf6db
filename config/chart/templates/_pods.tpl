{{- /* Parts of the pods of all components. They take (dict "root" $ "component" "server"). */ -}}

{{- define "depot.podLabels" -}}
{{- merge (include "depot.selector" . | fromYaml) (index .root.Values .component).podLabels .root.Values.commonLabels | toYaml }}
{{- end }}

{{- /* Also takes "annotations", with hashes of files that only a new pod reads. */ -}}
{{- define "depot.podAnnotations" -}}
{{- with merge (dict) (index .root.Values .component).podAnnotations (.annotations | default dict) .root.Values.commonAnnotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "depot.pullSecrets" -}}
{{- with .root.Values.global.imagePullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ ternary . (get (kindIs "map" . | ternary . (dict)) "name") (kindIs "string" .) | quote }}
  {{- end }}
{{- end }}
{{- end }}

{{- /* "token": whether the component calls the API server. */ -}}
{{- define "depot.podIdentity" -}}
{{- if .account }}
serviceAccountName: {{ include "depot.serviceAccountName" . | quote }}
{{- end }}
automountServiceAccountToken: {{ and .token .root.Values.serviceAccount.automount }}
enableServiceLinks: false
{{- include "depot.pullSecrets" . }}
{{- with (index .root.Values .component).podSecurityContext }}
securityContext:
  {{- toYaml . | nindent 2 }}
{{- end }}
terminationGracePeriodSeconds: {{ int (index .root.Values .component).terminationGracePeriodSeconds }}
{{- end }}

{{- define "depot.podPlacement" -}}
{{- $c := index .root.Values .component -}}
{{- $failover := list -}}
{{- if eq .component "server" -}}
{{- range $taint := list "not-ready" "unreachable" -}}
{{- $failover = append $failover (dict "key" (printf "node.kubernetes.io/%s" $taint) "operator" "Exists" "effect" "NoExecute" "tolerationSeconds" (int $c.failoverSeconds)) -}}
{{- end -}}
{{- end -}}
{{- with $c.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with concat $c.tolerations $failover }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with include "depot.affinity" . | fromYaml }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- if kindIs "string" $c.topologySpreadConstraints }}
topologySpreadConstraints:
  # By nodes alone: the scheduler leaves all constraints out where a node lacks the label of one, such as that of a zone.
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- include "depot.selector" . | nindent 8 }}
{{- else if $c.topologySpreadConstraints }}
topologySpreadConstraints:
  {{- toYaml $c.topologySpreadConstraints | nindent 2 }}
{{- end }}
{{- with $c.priorityClassName }}
priorityClassName: {{ . | quote }}
{{- end }}
{{- with $c.runtimeClassName }}
runtimeClassName: {{ . | quote }}
{{- end }}
{{- with $c.schedulerName }}
schedulerName: {{ . | quote }}
{{- end }}
{{- if ne $c.dnsPolicy "ClusterFirst" }}
dnsPolicy: {{ $c.dnsPolicy }}
{{- end }}
{{- with $c.dnsConfig }}
dnsConfig:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $c.hostAliases }}
hostAliases:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- /* Spreads pods over zones, if there are any. Pods with a volume that only one node can mount stay together. */ -}}
{{- define "depot.affinity" -}}
{{- $affinity := deepCopy (index .root.Values .component).affinity -}}
{{- if kindIs "string" (index .root.Values .component).topologySpreadConstraints -}}
{{- $apart := dict "weight" 100 "podAffinityTerm" (dict "topologyKey" "topology.kubernetes.io/zone" "labelSelector" (dict "matchLabels" (include "depot.selector" . | fromYaml))) -}}
{{- $anti := get $affinity "podAntiAffinity" | default dict -}}
{{- $preferred := get $anti "preferredDuringSchedulingIgnoredDuringExecution" | default list -}}
{{- $_ := set $anti "preferredDuringSchedulingIgnoredDuringExecution" (append $preferred $apart) -}}
{{- $_ := set $affinity "podAntiAffinity" $anti -}}
{{- end -}}
{{- $filesystem := .root.Values.storage.filesystem -}}
{{- if and $filesystem.enabled $filesystem.singleNode (has .component (list "server" "controller")) -}}
{{- $together := dict "topologyKey" "kubernetes.io/hostname" "labelSelector" (dict "matchLabels" (dict "app.kubernetes.io/instance" .root.Release.Name "depot.internal/archives" "mounted")) -}}
{{- $pod := get $affinity "podAffinity" | default dict -}}
{{- $required := get $pod "requiredDuringSchedulingIgnoredDuringExecution" | default list -}}
{{- $_ := set $pod "requiredDuringSchedulingIgnoredDuringExecution" (append $required $together) -}}
{{- $_ := set $affinity "podAffinity" $pod -}}
{{- end -}}
{{ toYaml $affinity }}
{{- end }}

{{- /* Parts of the main container of all components. */ -}}
{{- define "depot.container" -}}
{{- $c := index .root.Values .component -}}
image: {{ include "depot.image" . | quote }}
imagePullPolicy: {{ .root.Values.global.imagePullPolicy }}
# What the program said before it ended with an error is in the status of the pod, too.
terminationMessagePolicy: FallbackToLogsOnError
{{- with $c.resources }}
resources:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $c.securityContext }}
securityContext:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with concat ($c.envFrom | default list) $c.extraEnvFrom }}
envFrom:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- if $c.lifecycle }}
lifecycle:
  {{- toYaml $c.lifecycle | nindent 2 }}
{{- else if has .component (list "server" "ui") }}
lifecycle:
  preStop:
    # Services send connections for a moment after a pod was asked to end.
    sleep:
      seconds: 5
{{- end }}
{{- end }}

{{- define "depot.probes" -}}
{{- range $probe, $path := dict "startup" "/livez" "liveness" "/livez" "readiness" "/readyz" }}
{{ $probe }}Probe:
  httpGet:
    path: {{ $path }}
    port: admin
  {{- with index $.root.Values $.component "probes" $probe }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}
{{- end }}

{{- /* Heap for JavaScript. The rest of the limit is for memory outside of the heap. */ -}}
{{- define "depot.heapMiB" -}}
{{- $limits := (index .root.Values .component).resources.limits | default dict -}}
{{- if $limits.memory -}}
{{ div (mul (include "depot.bytes" $limits.memory | int64) 60) (mul 100 1048576) }}
{{- end -}}
{{- end }}

{{- /* Arguments from a table of options, in its order, without unset ones. */ -}}
{{- define "depot.args" -}}
{{- range .options }}
{{- if .switch }}
{{- if eq .text "true" }}
- --{{ .flag }}
{{- end }}
{{- else if .text }}
- {{ printf "--%s=%s" .flag .text | quote }}
{{- end }}
{{- end }}
{{- end }}

{{- /* A variable that tells messages which Secret keys the variables and files are from. Takes "env", "volumes" and "mounts". */ -}}
{{- define "depot.secretSources" -}}
{{- $paths := dict -}}
{{- range .mounts }}{{ $_ := set $paths .name .mountPath }}{{ end -}}
{{- $sources := list -}}
{{- range $variable := .env -}}
{{- with (($variable.valueFrom | default dict).secretKeyRef) -}}
{{- $sources = append $sources (printf "%s %s %s" $variable.name .name .key) -}}
{{- end -}}
{{- end -}}
{{- range $volume := .volumes -}}
{{- with $volume.secret -}}
{{- $secret := .secretName -}}
{{- $path := get $paths $volume.name -}}
{{- range .items }}{{ $sources = append $sources (printf "%s/%s %s %s" $path .path $secret .key) }}{{ end -}}
{{- if not .items }}{{ $sources = append $sources (printf "%s %s" $path $secret) }}{{ end -}}
{{- end -}}
{{- end -}}
{{- with $sources }}
- name: DEPOT_SECRET_SOURCES
  value: {{ join "," . | quote }}
{{- end }}
{{- end }}

{{- /* Objects of a table without the name of their value. */ -}}
{{- define "depot.items" -}}
{{- range . }}
- {{ omit . "from" | toYaml | nindent 2 | trim }}
{{- end }}
{{- end }}

{{- /*
A claim as a separate object, because no upgrade can resize the volumeClaimTemplates of a StatefulSet. Also takes "name",
"size", "class", "modes" and "keep".
*/ -}}
{{- define "depot.claim" -}}
apiVersion: v1
kind: PersistentVolumeClaim
metadata:
  {{- $keep := ternary (dict "helm.sh/resource-policy" "keep") dict .keep }}
  {{- include "depot.metadata" (merge (dict "annotations" (merge $keep (.annotations | default dict))) .) | nindent 2 }}
spec:
  accessModes:
    {{- toYaml .modes | nindent 4 }}
  {{- if eq .class "-" }}
  storageClassName: ""
  {{- else if .class }}
  storageClassName: {{ .class | quote }}
  {{- end }}
  resources:
    requests:
      storage: {{ .size }}
{{- end }}

{{- /* The volume that servers read archives from, and that the controller writes them to. */ -}}
{{- define "depot.archiveVolume" -}}
{{- $f := .Values.storage.filesystem -}}
name: modules
from: storage.filesystem.enabled
{{- if $f.hostPath }}
hostPath:
  path: {{ $f.hostPath | quote }}
  type: Directory
{{- else }}
persistentVolumeClaim:
  claimName: {{ $f.existingClaim | default (printf "%s-modules" (include "depot.fullname" .)) | quote }}
{{- end }}
{{- end }}

{{- define "depot.serviceAccount" -}}
{{- $c := index .root.Values .component -}}
{{- if and $c.serviceAccount.create .root.Values.serviceAccount.create -}}
apiVersion: v1
kind: ServiceAccount
metadata:
  {{- include "depot.metadata" (merge (dict
    "name" (include "depot.serviceAccountName" .)
    "labels" $c.serviceAccount.labels
    "annotations" (merge (dict) $c.serviceAccount.annotations .root.Values.serviceAccount.annotations)
  ) .) | nindent 2 }}
automountServiceAccountToken: false
{{- end -}}
{{- end }}

{{- define "depot.autoscaler" -}}
{{- $a := (index .root.Values .component).autoscaling -}}
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata:
  {{- include "depot.metadata" . | nindent 2 }}
spec:
  scaleTargetRef:
    apiVersion: apps/v1
    kind: {{ .kind }}
    name: {{ include "depot.component" . | quote }}
  minReplicas: {{ int $a.minReplicas }}
  maxReplicas: {{ int $a.maxReplicas }}
  metrics:
    - type: Resource
      resource:
        name: cpu
        target:
          type: Utilization
          averageUtilization: {{ int $a.targetCPUUtilizationPercentage }}
  {{- with $a.behavior }}
  behavior:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end }}

{{- define "depot.disruptionBudget" -}}
{{- $b := (index .root.Values .component).podDisruptionBudget -}}
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  {{- include "depot.metadata" . | nindent 2 }}
spec:
  {{- if ne (toString $b.minAvailable) "" }}
  minAvailable: {{ $b.minAvailable }}
  {{- else if ne (toString $b.maxUnavailable) "" }}
  maxUnavailable: {{ $b.maxUnavailable }}
  {{- else }}
  maxUnavailable: 1
  {{- end }}
  unhealthyPodEvictionPolicy: AlwaysAllow
  selector:
    matchLabels:
      {{- include "depot.selector" . | nindent 6 }}
{{- end }}
