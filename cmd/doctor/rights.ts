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
const parents = ['modules', 'providers']
const records = [...parents, 'versions']

/** Rights to resources of an API group in a namespace. */
const rightsIn =
  (group: string, namespace?: string) =>
  (resources: readonly string[], verbs: readonly string[], name?: string): Right => ({
    group,
    resources,
    verbs,
    namespace,
    name,
  })

const inEach = (
  { namespaces }: Place,
  rights: (namespace: string | undefined) => readonly Right[],
): Right[] => (namespaces ?? [undefined]).flatMap(rights)

/** The server reads. */
export function serverRights(place: Place): Right[] {
  const { apiGroup, namespace: own } = place
  return [
    ...inEach(place, (namespace) => [
      rightsIn(apiGroup, namespace)([...records, 'depots'], readVerbs),
      rightsIn('', namespace)(['configmaps'], readVerbs),
      rightsIn('')(['namespaces'], readVerbs, namespace),
    ]),
    rightsIn(apiGroup, own)(['groupbindings'], readVerbs),
  ]
}

/** The controller also writes. */
export function controllerRights(
  place: Place & { readonly leaseName: string; readonly backupLease?: string | undefined },
): Right[] {
  const { apiGroup, namespace: own, leaseName, backupLease } = place
  const bindings = rightsIn(apiGroup, own)
  const leases = rightsIn('coordination.k8s.io', own)
  const notes = rightsIn('', own)
  return [
    ...inEach(place, (namespace) => {
      const of = rightsIn(apiGroup, namespace)
      return [
        of(['depots'], ['get', ...readVerbs, 'patch']),
        of(records, ['get', ...readVerbs, 'create', 'patch', 'delete']),
        of(
          ['depots', ...records].map((resource) => `${resource}/status`),
          ['patch'],
        ),
        of(
          parents.map((resource) => `${resource}/finalizers`),
          ['update'],
        ),
        rightsIn('events.k8s.io', namespace)(['events'], ['create']),
        rightsIn('', namespace)(['configmaps'], ['get', 'create', 'patch', 'delete']),
      ]
    }),
    bindings(['groupbindings'], readVerbs),
    bindings(['groupbindings/status'], ['patch']),
    leases(['leases'], ['create']),
    leases(['leases'], ['get', 'patch'], leaseName),
    ...(backupLease === undefined ? [] : [leases(['leases'], ['get'], backupLease)]),
    notes(['configmaps'], ['create']),
    notes(['configmaps'], ['get', 'patch'], `${leaseName}-removals-0`),
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
