{{- /*
All mistakes in the values, in one message. Each check adds to .found.list. Checks read merged values only, never the
cluster, so that every tool renders the same.
*/ -}}
{{- define "depot.validate" -}}
{{- $found := dict "list" list -}}
{{- $in := dict "root" . "v" .Values "found" $found "facts" (include "depot.facts" . | fromYaml) -}}
{{- range $part := list "login" "explorer" "routing" "services" "stores" "repeats" "pods" "update" "scaling" "broker" "monitoring" "unused" "retired" -}}
{{- include (printf "depot.validate.%s" $part) $in -}}
{{- end -}}
{{- if $found.list -}}
{{- fail (printf "\n%s" (join "\n" ($found.list | sortAlpha | uniq))) -}}
{{- end -}}
{{- end }}

{{- /* Takes "found", and in "wrong" messages with their conditions. */ -}}
{{- define "depot.check" -}}
{{- $found := .found -}}
{{- range $message, $holds := .wrong -}}
{{- if $holds -}}{{- $_ := set $found "list" (append $found.list $message) -}}{{- end -}}
{{- end -}}
{{- end }}

{{- define "depot.validate.login" -}}
{{- $v := .v -}}
{{- $found := .found -}}
{{- $oidc := $v.server.oidc -}}
{{- $proxy := $oidc.brokerProxy.enabled -}}
{{- $bearer := eq (toString $v.server.useBearerToken) "true" -}}
{{- $path := "^[A-Za-z][A-Za-z0-9+.-]*://[^/?#]*/broker([?#].*)?$" -}}
{{- include "depot.check" (dict "found" $found "wrong" (dict
"V01 server.oidc.clientSecret or server.oidc.clientSecretName is required when broker.enabled and server.oidc.enabled are true; prefer clientSecretName (Secret with key clientSecret)"
  (and $v.broker.enabled $oidc.enabled (not $oidc.clientSecret) (not $oidc.clientSecretName))
(printf "V02 server.oidc.brokerProxy.enabled proxies only the bundled broker, and the issuer \"%s\" is external; set brokerProxy.enabled=false or broker.enabled=true" $oidc.issuerUrl)
  (and $proxy (not $v.broker.enabled))
"V03 server.oidc.brokerProxy.enabled needs server.oidc.enabled=true"
  (and $proxy (not $oidc.enabled))
"V04 server.oidc.issuerUrl must be the external URL of the broker, for example https://depot.example.com/broker"
  (and $proxy (not $oidc.issuerUrl))
(printf "V05 broker.config.issuer \"%v\" and server.oidc.issuerUrl \"%s\" must be exactly equal (a trailing slash counts)" $v.broker.config.issuer $oidc.issuerUrl)
  (and $proxy $v.broker.config.issuer (ne (toString $v.broker.config.issuer) $oidc.issuerUrl))
"V06 the path of server.oidc.issuerUrl must be /broker, because the server proxies /broker/* unchanged"
  (and $proxy $v.broker.enabled $oidc.issuerUrl (not (regexMatch $path $oidc.issuerUrl)))
"V07 server.oidc.issuerUrl is required without the bundled broker"
  (and $oidc.enabled (not $oidc.issuerUrl) (not $v.broker.enabled))
"V09 server.oidc.clientId is required"
  (and $oidc.enabled (not $oidc.clientId))
"V10 OIDC and bearer-token modes are mutually exclusive; set server.useBearerToken=false, and server.oidc.allowServiceAccountFallback=true if service accounts still need access"
  (and $oidc.enabled $bearer)
"V11 server.anonymousAuth and server.useBearerToken are mutually exclusive"
  (and $v.server.anonymousAuth $bearer)
"V12 server.oidc.allowServiceAccountFallback needs server.oidc.enabled=true"
  (and $oidc.allowServiceAccountFallback (not $oidc.enabled))
"V12 server.oidc.allowClientCredentials needs server.oidc.enabled=true"
  (and $oidc.allowClientCredentials (not $oidc.enabled))
"V12 server.oidc.consumerGroups needs server.oidc.enabled=true"
  (and (ne $oidc.consumerGroups "") (not $oidc.enabled))
"V12 server.oidc.consumerPersons needs server.oidc.enabled=true"
  (and $oidc.consumerPersons (not $oidc.enabled))
"V12 server.publishIssuers has no effect with server.anonymousAuth alone, because such a server takes no tokens; set server.oidc.enabled=true or server.anonymousAuth=false"
  (and $v.server.publishIssuers $v.server.anonymousAuth (not $oidc.enabled))
)) -}}
{{- $inside := printf "(127\\.0\\.0\\.1|localhost|([A-Za-z0-9-]+\\.)+svc(\\.%s)?)" (regexQuoteMeta $v.global.clusterDomain) -}}
{{- $secure := printf "^(https://[^/?#@\\s]+|http://%s(:[0-9]+)?)(/[^?#\\s]*)?$" $inside -}}
{{- range $name, $url := dict "server.oidc.issuerUrl" $oidc.issuerUrl "ui.oidc.issuerUrl" $v.ui.oidc.issuerUrl "broker.config.issuer" (toString ($v.broker.config.issuer | default "")) -}}
{{- include "depot.check" (dict "found" $found "wrong" (dict
(printf "V08 %s \"%s\" must use https; http is allowed only for 127.0.0.1, localhost and in-cluster names" $name $url)
  (and $url (not (regexMatch $secure $url)))
)) -}}
{{- end -}}
{{- range $name, $url := dict "server.oidc.authzUrl" $oidc.authzUrl "server.oidc.tokenUrl" $oidc.tokenUrl "ui.oidc.authzUrl" $v.ui.oidc.authzUrl -}}
{{- include "depot.check" (dict "found" $found "wrong" (dict
(printf "V13 %s \"%s\" is not a well-formed http or https URL" $name $url)
  (and $url (not (regexMatch "^https?://[^/?#@\\s]+([/?#]\\S*)?$" $url)))
)) -}}
{{- end -}}
{{- end }}

{{- define "depot.validate.explorer" -}}
{{- $v := .v -}}
{{- $oidc := $v.ui.oidc -}}
{{- $on := $oidc.enabled -}}
{{- $callback := $oidc.callbackPath -}}
{{- include "depot.check" (dict "found" .found "wrong" (dict
"V14 ui.sessionPasswordSecretName is required: a Secret whose key sessionPassword holds at least 32 characters"
  (and $v.ui.enabled (not $v.ui.sessionPasswordSecretName))
"V15 the UI needs server.enabled=true or ui.serverHost"
  (and $v.ui.enabled (not $v.server.enabled) (not $v.ui.serverHost))
"V16 ui.oidc.enabled needs server.oidc.enabled=true"
  (and $on (not $v.server.oidc.enabled))
"V16 ui.oidc.clientSecretName is required (Secret with key clientSecret)"
  (and $on (not $oidc.clientSecretName))
"V16 ui.baseUrl is required, because redirect URIs contain it"
  (and $on (not $v.ui.baseUrl))
"V16 ui.oidc.scopes must contain openid"
  (and $on (not (has "openid" (splitList " " $oidc.scopes))))
"V16 server.oidc.scopes must contain openid"
  (and $v.server.oidc.enabled (not (has "openid" $v.server.oidc.scopes)))
(printf "V16 ui.oidc.callbackPath \"%s\" must start with / and stay outside /depot, /broker and /.well-known" $callback)
  (and $on (or (not (hasPrefix "/" $callback)) (regexMatch "^/(depot|broker|\\.well-known)(/|$)" $callback)))
"V17 ui.oidc.clientId must differ from server.oidc.clientId: the CLI's client is public, the UI's is not"
  (and $on (eq $oidc.clientId $v.server.oidc.clientId))
"V18 ui.baseUrl must be scheme, host and port only"
  (and $v.ui.baseUrl (not (regexMatch "^https?://[^/?#@\\s]+$" $v.ui.baseUrl)))
(printf "V18 server.baseUrl \"%s\" must be an http or https URL without credentials, query and fragment" $v.server.baseUrl)
  (and $v.server.baseUrl (not (regexMatch "^https?://[^/?#@\\s]+(/[^?#\\s]*)?$" $v.server.baseUrl)))
)) -}}
{{- end }}
