import type { Authority, Certificate } from './certificates.ts'

/** Every request, without bodies. */
export const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
  - level: Metadata
`

export function etcdFlags(directory: string, url: string, peerPort: number): string[] {
  const peerUrl = `http://127.0.0.1:${peerPort}`
  return [
    `--data-dir=${directory}`,
    `--listen-client-urls=${url}`,
    `--advertise-client-urls=${url}`,
    `--listen-peer-urls=${peerUrl}`,
    `--initial-advertise-peer-urls=${peerUrl}`,
    `--initial-cluster=default=${peerUrl}`,
    // A test cluster may lose its last second in a power cut.
    '--unsafe-no-fsync',
    '--log-level=warn',
  ]
}

export function apiServerFlags({
  file,
  etcdUrl,
  port,
  serving,
  authority,
}: {
  file: (name: string) => string
  etcdUrl: string
  port: number
  serving: Certificate
  authority: Authority
}): string[] {
  return [
    `--etcd-servers=${etcdUrl}`,
    '--bind-address=127.0.0.1',
    '--advertise-address=127.0.0.1',
    `--secure-port=${port}`,
    `--cert-dir=${file('pki')}`,
    `--tls-cert-file=${serving.certFile}`,
    `--tls-private-key-file=${serving.keyFile}`,
    `--client-ca-file=${authority.certFile}`,
    `--token-auth-file=${file('tokens.csv')}`,
    '--authorization-mode=RBAC',
    '--service-account-issuer=https://kubernetes.default.svc',
    `--service-account-key-file=${file('service-accounts.key')}`,
    `--service-account-signing-key-file=${file('service-accounts.key')}`,
    '--service-cluster-ip-range=10.0.0.0/24',
    // There are no pods to admit, because no controller creates the default service account.
    '--disable-admission-plugins=ServiceAccount',
    `--audit-policy-file=${file('audit-policy.yaml')}`,
    `--audit-log-path=${file('audit.log')}`,
    '--audit-log-mode=blocking',
    '--audit-log-format=json',
    '--shutdown-delay-duration=0s',
    // Queues of requests and handlers of profiles take a fifth of the processor time of a start.
    '--enable-priority-and-fairness=false',
    '--profiling=false',
    '--v=1',
  ]
}
