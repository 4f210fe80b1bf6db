{{- /*
All mistakes that a render can see, in one message. Each check adds to .found.list; they look at merged values only,
never at the cluster, so that every tool renders the same.
*/ -}}
{{- define "depot.validate" -}}
{{- $found := dict "list" list -}}
{{- $in := dict "root" . "v" .Values "found" $found "facts" (include "depot.facts" . | fromYaml) -}}
{{- include "depot.validate.login" $in -}}
{{- include "depot.validate.explorer" $in -}}
{{- include "depot.validate.routing" $in -}}
{{- include "depot.validate.stores" $in -}}
{{- include "depot.validate.repeats" $in -}}
{{- include "depot.validate.scaling" $in -}}
{{- include "depot.validate.broker" $in -}}
{{- include "depot.validate.retired" $in -}}
{{- if $found.list -}}
{{- fail (printf "\n%s" (join "\n" ($found.list | sortAlpha | uniq))) -}}
{{- end -}}
{{- end }}

{{- define "depot.found" -}}
{{- $_ := set .in.found "list" (append .in.found.list .text) -}}
{{- end }}

{{- define "depot.validate.login" -}}
{{- $v := .v -}}
{{- $oidc := $v.server.oidc -}}
{{- $proxy := $oidc.brokerProxy.enabled -}}
{{- if and $v.broker.enabled $oidc.enabled (not $oidc.clientSecret) (not $oidc.clientSecretName) -}}
{{- include "depot.found" (dict "in" . "text" "V01 server.oidc.clientSecret or server.oidc.clientSecretName is required when broker.enabled and server.oidc.enabled are true; prefer clientSecretName (Secret with key clientSecret)") -}}
{{- end -}}
{{- if and $proxy (not $v.broker.enabled) -}}
{{- include "depot.found" (dict "in" . "text" (printf "V02 server.oidc.brokerProxy.enabled proxies only the bundled broker, and the issuer \"%s\" is external; set brokerProxy.enabled=false or broker.enabled=true" $oidc.issuerUrl)) -}}
{{- end -}}
{{- if and $proxy (not $oidc.enabled) -}}
{{- include "depot.found" (dict "in" . "text" "V03 server.oidc.brokerProxy.enabled needs server.oidc.enabled=true") -}}
{{- end -}}
{{- if and $proxy (not $oidc.issuerUrl) -}}
{{- include "depot.found" (dict "in" . "text" "V04 server.oidc.issuerUrl must be the external URL of the broker, for example https://depot.example.com/broker") -}}
{{- end -}}
{{- if and $proxy $v.broker.config.issuer (ne (toString $v.broker.config.issuer) $oidc.issuerUrl) -}}
{{- include "depot.found" (dict "in" . "text" (printf "V05 broker.config.issuer \"%v\" and server.oidc.issuerUrl \"%s\" must be exactly equal (a trailing slash counts)" $v.broker.config.issuer $oidc.issuerUrl)) -}}
{{- end -}}
{{- if and $proxy $oidc.issuerUrl (not (regexMatch "^[A-Za-z][A-Za-z0-9+.-]*://[^/?#]*/broker([?#].*)?$" $oidc.issuerUrl)) -}}
{{- include "depot.found" (dict "in" . "text" "V06 the path of server.oidc.issuerUrl must be /broker, because the server proxies /broker/* unchanged") -}}
{{- end -}}
{{- if and $oidc.enabled (not $oidc.issuerUrl) (not $v.broker.enabled) -}}
{{- include "depot.found" (dict "in" . "text" "V07 server.oidc.issuerUrl is required without the bundled broker") -}}
{{- end -}}
{{- include "depot.validate.issuer" (dict "in" . "name" "server.oidc.issuerUrl" "url" $oidc.issuerUrl) -}}
{{- include "depot.validate.issuer" (dict "in" . "name" "ui.oidc.issuerUrl" "url" $v.ui.oidc.issuerUrl) -}}
{{- include "depot.validate.issuer" (dict "in" . "name" "broker.config.issuer" "url" (toString ($v.broker.config.issuer | default ""))) -}}
{{- if and $oidc.enabled (not $oidc.clientId) -}}
{{- include "depot.found" (dict "in" . "text" "V09 server.oidc.clientId is required") -}}
{{- end -}}
{{- if and $oidc.enabled (eq (toString $v.server.useBearerToken) "true") -}}
{{- include "depot.found" (dict "in" . "text" "V10 OIDC and bearer-token modes are mutually exclusive; set server.useBearerToken=false, and server.oidc.allowServiceAccountFallback=true if service accounts still need access") -}}
{{- end -}}
{{- if and $v.server.anonymousAuth (eq (toString $v.server.useBearerToken) "true") -}}
{{- include "depot.found" (dict "in" . "text" "V11 server.anonymousAuth and server.useBearerToken are mutually exclusive") -}}
{{- end -}}
{{- if not $oidc.enabled -}}
{{- $in := . -}}
{{- range list "allowServiceAccountFallback" "allowClientCredentials" -}}
{{- if index $oidc . -}}
{{- include "depot.found" (dict "in" $in "text" (printf "V12 server.oidc.%s needs server.oidc.enabled=true" .)) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- $in := . -}}
{{- range $name, $url := dict "server.oidc.authzUrl" $oidc.authzUrl "server.oidc.tokenUrl" $oidc.tokenUrl "ui.oidc.authzUrl" $v.ui.oidc.authzUrl -}}
{{- if and $url (not (regexMatch "^https?://[^/?#@\\s]+([/?#]\\S*)?$" $url)) -}}
{{- include "depot.found" (dict "in" $in "text" (printf "V13 %s \"%s\" is not a well-formed http or https URL" $name $url)) -}}
{{- end -}}
{{- end -}}
{{- end }}

{{- define "depot.validate.issuer" -}}
{{- $inside := printf "(127\\.0\\.0\\.1|localhost|([A-Za-z0-9-]+\\.)+svc(\\.%s)?)" (regexQuoteMeta .in.v.global.clusterDomain) -}}
{{- $good := printf "^(https://[^/?#@\\s]+|http://%s(:[0-9]+)?)(/[^?#\\s]*)?$" $inside -}}
{{- if and .url (not (regexMatch $good .url)) -}}
{{- include "depot.found" (dict "in" .in "text" (printf "V08 %s \"%s\" must use https; http is allowed only for 127.0.0.1, localhost and in-cluster names" .name .url)) -}}
{{- end -}}
{{- end }}

{{- define "depot.validate.explorer" -}}
{{- $v := .v -}}
{{- $in := . -}}
{{- $oidc := $v.ui.oidc -}}
{{- if and $v.ui.enabled (not $v.ui.sessionPasswordSecretName) -}}
{{- include "depot.found" (dict "in" . "text" "V14 ui.sessionPasswordSecretName is required: a Secret whose key sessionPassword holds at least 32 characters") -}}
{{- end -}}
{{- if and $v.ui.enabled (not $v.server.enabled) (not $v.ui.serverHost) -}}
{{- include "depot.found" (dict "in" . "text" "V15 the UI needs server.enabled=true or ui.serverHost") -}}
{{- end -}}
{{- if $oidc.enabled -}}
{{- if not $v.server.oidc.enabled -}}
{{- include "depot.found" (dict "in" . "text" "V16 ui.oidc.enabled needs server.oidc.enabled=true") -}}
{{- end -}}
{{- if not $oidc.clientSecretName -}}
{{- include "depot.found" (dict "in" . "text" "V16 ui.oidc.clientSecretName is required (Secret with key clientSecret)") -}}
{{- end -}}
{{- if not $v.ui.baseUrl -}}
{{- include "depot.found" (dict "in" . "text" "V16 ui.baseUrl is required, because redirect URIs contain it") -}}
{{- end -}}
{{- if not (has "openid" (splitList " " $oidc.scopes)) -}}
{{- include "depot.found" (dict "in" . "text" "V16 ui.oidc.scopes must contain openid") -}}
{{- end -}}
{{- if or (not (hasPrefix "/" $oidc.callbackPath)) (regexMatch "^/(depot|broker|\\.well-known)(/|$)" $oidc.callbackPath) -}}
{{- include "depot.found" (dict "in" . "text" (printf "V16 ui.oidc.callbackPath \"%s\" must start with / and stay outside /depot, /broker and /.well-known" $oidc.callbackPath)) -}}
{{- end -}}
{{- if eq $oidc.clientId $v.server.oidc.clientId -}}
{{- include "depot.found" (dict "in" . "text" "V17 ui.oidc.clientId must differ from server.oidc.clientId: the CLI's client is public, the UI's is not") -}}
{{- end -}}
{{- end -}}
{{- range $name, $url := dict "ui.baseUrl" $v.ui.baseUrl "server.baseUrl" $v.server.baseUrl -}}
{{- if and $url (not (regexMatch "^https?://[^/?#@\\s]+$" $url)) -}}
{{- include "depot.found" (dict "in" $in "text" (printf "V18 %s must be scheme, host and port only" $name)) -}}
{{- end -}}
{{- end -}}
{{- end }}
