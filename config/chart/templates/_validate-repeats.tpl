{{- /* Users must not repeat what the chart sets: the second one would win, or the API server would refuse the pod. */ -}}
{{- define "depot.validate.repeats" -}}
{{- $in := . -}}
{{- range $c := list "server" "ui" "controller" "scanning" "broker" -}}
{{- $values := index $in.v $c -}}
{{- if $values.enabled -}}
{{- $env := dict -}}
{{- range include (printf "depot.%s.env" $c) $in.root | fromYamlArray -}}{{- $_ := set $env .name .from -}}{{- end -}}
{{- $flags := dict -}}
{{- if ne $c "broker" -}}
{{- range include (printf "depot.%s.options" $c) $in.root | fromYamlArray -}}
{{- $_ := set $flags (printf "--%s" .flag) .from -}}
{{- $_ := set $env (printf "DEPOT_%s" (.flag | replace "-" "_" | upper)) .from -}}
{{- end -}}
{{- end -}}
{{- $volumes := dict -}}
{{- range include (printf "depot.%s.volumes" $c) $in.root | fromYamlArray -}}{{- $_ := set $volumes .name .from -}}{{- end -}}
{{- $mounts := dict -}}
{{- range include (printf "depot.%s.mounts" $c) $in.root | fromYamlArray -}}
{{- include "depot.repeats" (dict "in" $in "list" .from "what" .mountPath "set" $mounts) -}}
{{- $_ := set $volumes .name (get $volumes .name | default .from) -}}
{{- end -}}
{{- range $values.extraEnv -}}
{{- include "depot.repeats" (dict "in" $in "list" (printf "%s.extraEnv" $c) "what" .name "set" $env) -}}
{{- end -}}
{{- range $values.extraArgs -}}
{{- include "depot.repeats" (dict "in" $in "list" (printf "%s.extraArgs" $c) "what" (toString . | splitList "=" | first) "set" $flags) -}}
{{- end -}}
{{- range $values.extraVolumes -}}
{{- include "depot.repeats" (dict "in" $in "list" (printf "%s.extraVolumes" $c) "what" .name "set" $volumes) -}}
{{- end -}}
{{- range $values.extraVolumeMounts -}}
{{- include "depot.repeats" (dict "in" $in "list" (printf "%s.extraVolumeMounts" $c) "what" .mountPath "set" $mounts) -}}
{{- include "depot.check" (dict "found" $in.found "wrong" (dict
(printf "V25 %s.extraVolumeMounts names the volume %s, which is not in %s.extraVolumes" $c .name $c)
  (not (hasKey $volumes .name))
)) -}}
{{- end -}}
{{- $names := dict $c "the main container" -}}
{{- range $list := list "initContainers" "extraContainers" -}}
{{- range index $values $list -}}
{{- include "depot.repeats" (dict "in" $in "list" (printf "%s.%s" $c $list) "what" .name "set" $names) -}}
{{- end -}}
{{- end -}}
{{- $ports := dict -}}
{{- range $name, $port := get (include "depot.ports" $in.root | fromYaml) $c -}}
{{- $_ := set $ports $name "the name of its own port" -}}
{{- $_ := set $ports (toString $port) "its own port" -}}
{{- end -}}
{{- range $values.extraPorts -}}
{{- range list .name (toString (int .containerPort)) | compact -}}
{{- include "depot.repeats" (dict "in" $in "list" (printf "%s.extraPorts" $c) "what" . "set" $ports) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end }}

{{- define "depot.ports" -}}
server: {http: {{ int .Values.server.service.targetPort }}, admin: {{ int .Values.server.adminPort }}}
ui: {http: 3000, admin: 9091}
controller: {admin: {{ int .Values.controller.adminPort }}}
scanning: {admin: 9090}
broker: {http: 5556, telemetry: 5558}
{{- end }}

{{- define "depot.repeats" -}}
{{- $name := toString .what -}}
{{- include "depot.check" (dict "found" .in.found "wrong" (dict
(printf "V25 %s sets %s, which the chart sets from %s" .list $name (get .set $name))
  (and (hasKey .set $name) (ne .list (get .set $name)))
(printf "V25 %s lists %s twice" .list $name)
  (eq .list (get .set $name))
)) -}}
{{- if and .list (not (hasKey .set $name)) -}}{{- $_ := set .set $name .list -}}{{- end -}}
{{- end }}
