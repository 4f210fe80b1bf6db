{{- /* With passwords, the users are written into memory when the pod starts, as hashes. */ -}}
{{- define "depot.valkey.script" -}}
umask 077
for user in {{ join " " (keys .Values.valkey.auth.aclUsers | sortAlpha) }}; do
  [ -s "/etc/valkey/users/$user" ] || { echo "Secret {{ .Values.valkey.auth.usersExistingSecret }} has no key $user, the password of that user" >&2; exit 1; }
  hash=$(tr -d '\n' < "/etc/valkey/users/$user" | sha256sum | cut -d ' ' -f 1)
  printf 'user %s on #%s %s\n' "$user" "$hash" "$(cat "/etc/valkey/permissions/$user")"
done > /tmp/users.acl
exec valkey-server "$@" --aclfile /tmp/users.acl
{{- end }}
