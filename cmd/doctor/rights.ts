import type { Api } from '../../pkg/records/kube/kube.ts'
import { type Examination, failed, ok } from './check.ts'

/** A permission that a service account needs. */
export interface Right {
  readonly group: string
  /** With its subresource, such as `modules/status`. */
  readonly resources: readonly string[]
  readonly verbs: readonly string[]
  /** Default: in all. */
  readonly namespace?: string | undefined
  readonly name?: string | undefined
}

interface Place {
  readonly apiGroup: string
  readonly namespace: string
  /** Default: all. */
  readonly namespaces?: readonly string[] | undefined
}

const readVerbs = ['list', 'watch']
const everywhere = (namespaces: Place['namespaces']) => namespaces ?? [undefined]

/** The server reads. */
export function serverRights({ apiGroup: group, namespace: own, namespaces }: Place): Right[] {
  return [
    ...everywhere(namespaces).flatMap((namespace) => [
      {
        group,
        resources: ['modules', 'providers', 'versions', 'depots'],
        verbs: readVerbs,
        namespace,
      },
      { group: '', resources: ['configmaps'], verbs: readVerbs, namespace },
      { group: '', resources: ['namespaces'], verbs: readVerbs, name: namespace },
    ]),
    { group, resources: ['groupbindings'], verbs: readVerbs, namespace: own },
  ]
}

/** The controller also writes. */
export function controllerRights({
  apiGroup: group,
  namespace: own,
  namespaces,
  leaseName,
  backupLease,
}: Place & {
  readonly leaseName: string
  readonly backupLease?: string | undefined
}): Right[] {
  const notes = { group: '', resources: ['configmaps'], namespace: own }
  const leases = { group: 'coordination.k8s.io', resources: ['leases'], namespace: own }
  return [
    ...everywhere(namespaces).flatMap((namespace) => [
      { group, resources: ['depots'], verbs: ['get', ...readVerbs, 'patch'], namespace },
      {
        group,
        resources: ['modules', 'providers', 'versions'],
        verbs: ['get', ...readVerbs, 'create', 'patch', 'delete'],
        namespace,
      },
      {
        group,
        resources: ['depots/status', 'modules/status', 'providers/status', 'versions/status'],
        verbs: ['patch'],
        namespace,
      },
      {
        group,
        resources: ['modules/finalizers', 'providers/finalizers'],
        verbs: ['update'],
        namespace,
      },
      { group: 'events.k8s.io', resources: ['events'], verbs: ['create'], namespace },
      {
        group: '',
        resources: ['configmaps'],
        verbs: ['get', 'create', 'patch', 'delete'],
        namespace,
      },
    ]),
    { group, resources: ['groupbindings'], verbs: readVerbs, namespace: own },
    { group, resources: ['groupbindings/status'], verbs: ['patch'], namespace: own },
    { ...leases, verbs: ['create'] },
    { ...leases, verbs: ['get', 'patch'], name: leaseName },
    ...(backupLease === undefined ? [] : [{ ...leases, verbs: ['get'], name: backupLease }]),
    { ...notes, verbs: ['create'] },
    { ...notes, verbs: ['get', 'patch'], name: `${leaseName}-removals-0` },
  ]
}

/** Asks the API server about each right. */
export function rightsCheck(api: Api, rights: readonly Right[]): Examination {
  const remedy =
    'install the chart with rbac.create=true, or give the service account these rights: config/rbac has them'
  return {
    what: 'permissions',
    remedy,
    async run() {
      const wanted = rights.flatMap(({ resources, verbs, ...right }) =>
        resources.flatMap((resource) => verbs.map((verb) => ({ ...right, resource, verb }))),
      )
      const answers = await Promise.all(
        wanted.map(async (right) => ((await mayI(api, right)) ? [] : [shown(right)])),
      )
      const denied = answers.flat()
      return denied.length === 0
        ? ok(`all ${wanted.length} that are needed`)
        : failed(`missing: ${denied.join(', ')}`, remedy)
    },
  }
}

type Asked = Omit<Right, 'resources' | 'verbs'> & {
  readonly resource: string
  readonly verb: string
}

async function mayI(api: Api, { group, resource, verb, namespace, name }: Asked): Promise<boolean> {
  const [plural, subresource] = resource.split('/')
  const attributes = { group, resource: plural, subresource, verb, namespace, name }
  const answer = await api.request(
    'POST',
    '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
    { spec: { resourceAttributes: attributes } },
  )
  return (answer as { status?: { allowed?: boolean } }).status?.allowed === true
}

function shown({ resource, verb, namespace, name }: Asked): string {
  const which = name === undefined ? '' : ` ${name}`
  return `${verb} ${resource}${which}${namespace === undefined ? '' : ` in ${namespace}`}`
}
