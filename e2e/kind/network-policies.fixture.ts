import { apply, kind, kubectl, must, run } from './cluster.fixture.ts'

/* Enforces NetworkPolicies in the node, because its pod network ignores them. */

const name = 'network-policies'
const metadata = { name, namespace: 'kube-system' }
const labels = { app: name }

export async function startNetworkPolicies(): Promise<void> {
  await apply([
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name },
      rules: [
        { apiGroups: [''], resources: ['namespaces', 'nodes', 'pods'] },
        { apiGroups: ['networking.k8s.io'], resources: ['networkpolicies'] },
      ].map((rule) => ({ ...rule, verbs: ['get', 'list', 'watch'] })),
    },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
      subjects: [{ kind: 'ServiceAccount', ...metadata }],
    },
    {
      apiVersion: 'apps/v1',
      kind: 'DaemonSet',
      metadata,
      spec: {
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: {
            serviceAccountName: name,
            hostNetwork: true,
            terminationGracePeriodSeconds: 0,
            tolerations: [{ operator: 'Exists' }],
            containers: [
              {
                name,
                image: 'docker.io/depot/e2e-network-policies:e2e',
                imagePullPolicy: 'Never',
                securityContext: { privileged: true },
                // It ends once it has succeeded, and every one of its commands starts processes.
                startupProbe: {
                  exec: { command: ['iptables', '-S', 'KUBE-ROUTER-FORWARD'] },
                  periodSeconds: 1,
                },
                env: [
                  {
                    name: 'NODE_NAME',
                    valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } },
                  },
                ],
              },
            ],
          },
        },
      },
    },
  ])
  await kubectl('-n', 'kube-system', 'rollout', 'status', `daemonset/${name}`, '--timeout=60s')
}

/** Also removes its rules, because a later pod may get the address of one that had a policy. */
export async function stopNetworkPolicies(): Promise<void> {
  await kubectl('-n', 'kube-system', 'delete', `daemonset/${name}`, '--wait', '--ignore-not-found')
  await run('docker', ['exec', kind.node, 'nft', 'delete', 'table', 'ip', 'filter'])
  await must('kubectl', ['delete', 'clusterrole,clusterrolebinding', name, '--ignore-not-found'])
}
