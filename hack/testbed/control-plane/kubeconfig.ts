import { stringify } from 'yaml'

/** A kubeconfig with one context; the authority as PEM, or as a file that holds it. */
export function kubeconfigOf({
  url,
  token,
  ...authority
}: { readonly url: string; readonly token: string } & (
  | { readonly ca: string }
  | { readonly caFile: string }
)): string {
  const trust =
    'caFile' in authority
      ? { 'certificate-authority': authority.caFile }
      : { 'certificate-authority-data': Buffer.from(authority.ca).toString('base64') }
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'test', cluster: { server: url, ...trust } }],
    users: [{ name: 'test', user: { token } }],
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'test' } }],
    'current-context': 'test',
  })
}
