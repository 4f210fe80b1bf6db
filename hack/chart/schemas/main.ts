// Writes schemas/*.json: what the API server and four operators accept for the kinds that the chart renders, without
// descriptions. `hack/with-node node hack/chart/schemas/main.ts`; needs etcd, kube-apiserver and Go (hack/tool).

import { execFileSync } from 'node:child_process'
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import { startControlPlane } from '../../testbed/control-plane/control-plane.ts'
import { type Components, compact, reachable } from './compact.ts'

/** Groups of the API server with objects in the chart. */
const groups = [
  'api/v1',
  'apis/apps/v1',
  'apis/autoscaling/v2',
  'apis/batch/v1',
  'apis/coordination.k8s.io/v1',
  'apis/policy/v1',
  'apis/networking.k8s.io/v1',
  'apis/rbac.authorization.k8s.io/v1',
  'apis/apiextensions.k8s.io/v1',
] as const

/** Kinds with custom resource definitions: the Go module that has the definition, and its path there. */
const definitions = [
  {
    module: 'sigs.k8s.io/gateway-api@v1.4.0',
    file: 'config/crd/standard/*_httproutes.yaml',
    kind: 'HTTPRoute',
  },
  {
    module: 'istio.io/api@v1.31.1',
    file: 'kubernetes/customresourcedefinitions.gen.yaml',
    kind: 'VirtualService',
  },
  {
    module: 'github.com/cert-manager/cert-manager@v1.21.2',
    file: 'deploy/crds/*_certificates.yaml',
    kind: 'Certificate',
  },
  {
    module: 'github.com/prometheus-operator/prometheus-operator@v0.85.0',
    file: 'example/prometheus-operator-crd/*_servicemonitors.yaml',
    kind: 'ServiceMonitor',
  },
  {
    module: 'github.com/prometheus-operator/prometheus-operator@v0.85.0',
    file: 'example/prometheus-operator-crd/*_podmonitors.yaml',
    kind: 'PodMonitor',
  },
  {
    module: 'github.com/prometheus-operator/prometheus-operator@v0.85.0',
    file: 'example/prometheus-operator-crd/*_prometheusrules.yaml',
    kind: 'PrometheusRule',
  },
] as const

const kinds = [
  'ClusterRole',
  'ClusterRoleBinding',
  'ConfigMap',
  'CronJob',
  'CustomResourceDefinition',
  'Deployment',
  'HorizontalPodAutoscaler',
  'Ingress',
  'Job',
  'Lease',
  'Namespace',
  'NetworkPolicy',
  'PersistentVolumeClaim',
  'Pod',
  'PodDisruptionBudget',
  'Role',
  'RoleBinding',
  'Secret',
  'Service',
  'ServiceAccount',
  'StatefulSet',
]

interface GroupVersionKind {
  readonly group: string
  readonly version: string
  readonly kind: string
}

interface Served {
  readonly 'x-kubernetes-group-version-kind'?: readonly GroupVersionKind[]
}

async function ofApiServer(): Promise<void> {
  const cluster = await startControlPlane()
  const components: Components = {}
  const roots: Record<string, string> = {}
  try {
    for (const group of groups) {
      const document = (await cluster.admin.request('GET', `/openapi/v3/${group}`)) as {
        components: { schemas: Record<string, Served> }
      }
      for (const [name, schema] of Object.entries(document.components.schemas)) {
        const [of] = schema['x-kubernetes-group-version-kind'] ?? []
        const isOurs = of && group.endsWith([of.group, of.version].filter(Boolean).join('/'))
        if (of && isOurs && kinds.includes(of.kind)) roots[fileOf(of)] = name
        components[name] = compact(schema)
      }
    }
  } finally {
    await cluster.stop()
  }
  write('kubernetes', { roots, components: reachable(components, Object.values(roots)) })
}

function ofDefinitions(): void {
  const roots: Record<string, string> = {}
  const components: Components = {}
  for (const { module, file, kind } of definitions) {
    const { Dir: folder } = JSON.parse(
      execFileSync('go', ['mod', 'download', '-json', module], { encoding: 'utf8' }),
    ) as { Dir: string }
    const [path] = globSync(join(folder, file))
    if (path === undefined) throw new Error(`${module} has no ${file}`)
    for (const document of parseAllDocuments(readFileSync(path, 'utf8'))) {
      const definition = document.toJS() as {
        spec: {
          group: string
          names: { kind: string }
          versions: { name: string; schema: { openAPIV3Schema: { properties: object } } }[]
        }
      } | null
      if (definition?.spec.names.kind !== kind) continue
      const version = definition.spec.versions.find(({ name }) => name === 'v1')
      if (version === undefined) throw new Error(`${module} has no ${kind} v1`)
      roots[fileOf({ group: definition.spec.group, version: 'v1', kind })] = kind
      const schema = version.schema.openAPIV3Schema
      const every = {
        apiVersion: { type: 'string' },
        kind: { type: 'string' },
        metadata: { type: 'object' },
      }
      components[kind] = compact({ ...schema, properties: { ...schema.properties, ...every } })
    }
  }
  write('definitions', { roots, components })
}

/** Named as in kubeconform: kind, first part of the group, version. */
function fileOf({ group, version, kind }: GroupVersionKind): string {
  return `${[kind, group.split('.')[0], version].filter(Boolean).join('-').toLowerCase()}.json`
}

function write(name: string, content: object): void {
  writeFileSync(join(import.meta.dirname, `${name}.json`), `${JSON.stringify(content)}\n`)
}

await ofApiServer()
ofDefinitions()
