{{- /* Users must not repeat what the chart sets: the second one would win, or the pod would be refused. */ -}}
{{- define "depot.validate.repeats" -}}
{{- $in := . -}}
{{- range $c := list "server" "ui" "controller" "broker" -}}
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
{{- $_ := set $mounts .mountPath .from -}}
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
{{- end -}}
{{- end -}}
{{- end -}}
{{- end }}

{{- define "depot.repeats" -}}
{{- $name := toString .what -}}
{{- include "depot.check" (dict "found" .in.found "wrong" (dict
(printf "V25 %s sets %s, which the chart sets from %s" .list $name (get .set $name))
  (hasKey .set $name)
)) -}}
{{- end }}
