import { stringify } from 'yaml'

/** A kubeconfig with one context. */
export function kubeconfigOf({
  url,
  ca,
  token,
}: {
  readonly url: string
  readonly ca: string
  readonly token: string
}): string {
  const authority = Buffer.from(ca).toString('base64')
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'test', cluster: { server: url, 'certificate-authority-data': authority } }],
    users: [{ name: 'test', user: { token } }],
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'test' } }],
    'current-context': 'test',
  })
}
