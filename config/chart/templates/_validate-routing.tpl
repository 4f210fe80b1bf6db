{{- define "depot.validate.routing" -}}
{{- $v := .v -}}
{{- $found := .found -}}
{{- $public := list -}}
{{- range $c := list "server" "ui" -}}
{{- $values := index $v $c -}}
{{- /* If the explorer is enabled, the ingress and the route of the server are not rendered. */ -}}
{{- if and $values.enabled (or (eq $c "ui") (not $v.ui.enabled)) -}}
{{- if $values.ingress.enabled -}}
{{- $hosts := list -}}
{{- range $values.ingress.hosts -}}{{- $hosts = append $hosts .host -}}{{- end -}}
{{- $public = concat $public $hosts -}}
{{- include "depot.validate.hosts" (dict "found" $found "name" (printf "%s.ingress" $c) "key" "hosts" "hosts" $hosts) -}}
{{- range $values.ingress.tls -}}
{{- range $host := .hosts -}}
{{- include "depot.check" (dict "found" $found "wrong" (dict
(printf "V19 %s.ingress.tls names host \"%s\", which is not in %s.ingress.hosts" $c $host $c)
  (not (include "depot.covers" (dict "host" $host "hosts" $hosts)))
)) -}}
{{- end -}}
{{- end -}}
{{- range $host := ternary $values.ingress.hosts list (eq $c "ui") -}}
{{- range $host.paths -}}
{{- include "depot.check" (dict "found" $found "wrong" (dict
(printf "V19 ui.ingress path \"%s\" belongs to the server; remove it, the chart adds it" .path)
  (regexMatch "^/(depot|broker|\\.well-known)(/|$)" .path)
)) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if $values.route.enabled -}}
{{- $public = concat $public $values.route.hostnames -}}
{{- include "depot.validate.hosts" (dict "found" $found "name" (printf "%s.route" $c) "key" "hostnames" "hosts" $values.route.hostnames) -}}
{{- include "depot.check" (dict "found" $found "wrong" (dict
(printf "V19 %s.route.parentRefs must not be empty" $c)
  (not $values.route.parentRefs)
)) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- with $v.server.ingress.istio -}}
{{- if .enabled -}}
{{- $public = concat $public .hosts -}}
{{- include "depot.validate.hosts" (dict "found" $found "name" "server.ingress.istio" "key" "hosts" "hosts" .hosts) -}}
{{- include "depot.check" (dict "found" $found "wrong" (dict
"V19 server.ingress.istio.gateway must not be empty"
  (not .gateway)
)) -}}
{{- end -}}
{{- end -}}
{{- $host := regexReplaceAll "^https?://([^/?#:]*).*$" $v.ui.baseUrl "${1}" -}}
{{- include "depot.check" (dict "found" $found "wrong" (dict
(printf "V19 the host of ui.baseUrl, \"%s\", is in no enabled ingress or route of the explorer (%s)" $host (join ", " $public))
  (and $v.ui.enabled (eq $v.ui.service.type "ClusterIP") $host $public (not (include "depot.covers" (dict "host" $host "hosts" $public))))
)) -}}
{{- end }}

{{- define "depot.validate.hosts" -}}
{{- $seen := dict -}}
{{- include "depot.check" (dict "found" .found "wrong" (dict
(printf "V19 %s.%s must not be empty" .name .key)
  (not .hosts)
)) -}}
{{- range .hosts -}}
{{- include "depot.check" (dict "found" $.found "wrong" (dict
(printf "V19 %s lists host \"%s\" twice" $.name .)
  (hasKey $seen .)
)) -}}
{{- $_ := set $seen . true -}}
{{- end -}}
{{- end }}

{{- /* Prints something if "host" is one of "hosts", each of which may have a wildcard. */ -}}
{{- define "depot.covers" -}}
{{- $domain := regexReplaceAll "^[^.]*" .host "*" -}}
{{- $host := .host -}}
{{- range .hosts -}}
{{- if or (has . (list $host $domain "" "*")) (eq $host (regexReplaceAll "^[^.]*" . "*")) -}}yes{{- end -}}
{{- end -}}
{{- end }}

{{- define "depot.validate.services" -}}
{{- $found := .found -}}
{{- range $c := list "server" "ui" -}}
{{- $s := (index $.v $c).service -}}
{{- $port := int $s.nodePort -}}
{{- $balancer := list -}}
{{- range list "loadBalancerIP" "loadBalancerClass" "loadBalancerSourceRanges" -}}
{{- if index $s . -}}{{- $balancer = append $balancer (printf "%s.service.%s" $c .) -}}{{- end -}}
{{- end -}}
{{- include "depot.check" (dict "found" $found "wrong" (dict
(printf "V32 %s.service.nodePort=%d needs %s.service.type=NodePort or LoadBalancer" $c $port $c)
  (and $port (eq $s.type "ClusterIP"))
(printf "V32 %s.service.nodePort=%d is outside of 30000 to 32767, the ports of nodes" $c $port)
  (and $port (or (lt $port 30000) (gt $port 32767)))
(printf "V32 %s.service.externalTrafficPolicy needs %s.service.type=NodePort or LoadBalancer" $c $c)
  (and $s.externalTrafficPolicy (eq $s.type "ClusterIP"))
(printf "V32 %s.service.ipFamilyPolicy=SingleStack takes one of %s.service.ipFamilies, not two" $c $c)
  (and (eq $s.ipFamilyPolicy "SingleStack") (gt (len $s.ipFamilies) 1))
(printf "V36 %s %s no effect, because %s.service.type is %s" (join " and " $balancer) (ternary "has" "have" (eq (len $balancer) 1)) $c $s.type)
  (and $balancer (ne $s.type "LoadBalancer"))
)) -}}
{{- end -}}
{{- $tls := .v.server.tls -}}
{{- $cert := $tls.certManager -}}
{{- $ports := list (int .v.server.service.nodePort) (int .v.ui.service.nodePort) -}}
{{- include "depot.check" (dict "found" $found "wrong" (dict
(printf "V32 server.service.targetPort and server.adminPort are both %d; the server needs two ports" (int .v.server.adminPort))
  (eq (int .v.server.service.targetPort) (int .v.server.adminPort))
(printf "V32 server.service.nodePort and ui.service.nodePort are both %d; each Service needs a port of its own" (first $ports))
  (and .v.ui.enabled (first $ports) (eq (first $ports) (last $ports)))
(printf "V24 server.tls.certPath=%s must be in a folder of its own, such as /etc/tls" $tls.certPath)
  (and $tls.enabled (eq (dir $tls.certPath) "/"))
(printf "V24 server.tls.certManager.renewBefore=%s must be shorter than the duration, %s" $cert.renewBefore $cert.duration)
  (and $cert.renewBefore $cert.duration (ge (include "depot.seconds" $cert.renewBefore | float64) (include "depot.seconds" $cert.duration | float64)))
"V24 server.tls.secretName is required (Secret of type kubernetes.io/tls), or enable server.tls.certManager"
  (and $tls.enabled (not $tls.secretName) (not $tls.certManager.enabled))
"V24 server.tls.certManager.enabled needs server.tls.enabled=true"
  (and $tls.certManager.enabled (not $tls.enabled))
"V24 server.tls.certManager.issuerRef.name is required: the Issuer or ClusterIssuer that signs the certificate"
  (and $tls.enabled $tls.certManager.enabled (not $tls.certManager.issuerRef.name))
(printf "V24 server.tls.certPath and server.tls.keyPath must be in the same folder, \"%s\" and \"%s\" are not" $tls.certPath $tls.keyPath)
  (and $tls.enabled (ne (dir $tls.certPath) (dir $tls.keyPath)))
)) -}}
{{- end }}
