import {
  apiVersion,
  type CustomResourceKind,
  kinds,
  type StructuralSchema,
  structuralSchema,
} from '../pkg/api/v1alpha1/v1alpha1.ts'

interface PrinterColumn {
  readonly name: string
  readonly type: 'string' | 'integer' | 'boolean' | 'date'
  readonly jsonPath: string
  /** 0 is always shown, 1 only with `-o wide`. Default 0. */
  readonly priority?: number
}

const latest = { name: 'Latest', type: 'string', jsonPath: '.status.latestVersion' } as const
const synced = { name: 'Synced', type: 'boolean', jsonPath: '.status.synced' } as const
const ready = {
  name: 'Ready',
  type: 'string',
  jsonPath: '.status.conditions[?(@.type=="Ready")].status',
} as const
const reason = {
  name: 'Reason',
  type: 'string',
  jsonPath: '.status.conditions[?(@.type=="Ready")].reason',
} as const
/** A sentence or two, which only `-o wide` has space for. */
const message = {
  name: 'Status',
  type: 'string',
  jsonPath: '.status.conditions[?(@.type=="Ready")].message',
  priority: 1,
} as const
const age = { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' } as const

/** The columns of `kubectl get`. The short names are unusual because other products have modules and providers too. */
const presentation: Readonly<
  Record<
    CustomResourceKind,
    {
      readonly description: string
      readonly shortNames: readonly string[]
      readonly columns: readonly PrinterColumn[]
    }
  >
> = {
  Module: {
    description: 'Module is a Terraform module: its source, its storage and its versions.',
    shortNames: ['tfmod'],
    columns: [
      { name: 'Provider', type: 'string', jsonPath: '.spec.moduleConfig.provider' },
      latest,
      synced,
      ready,
      reason,
      message,
    ],
  },
  Provider: {
    description: 'Provider is a Terraform provider: its source, its storage and its versions.',
    shortNames: ['tfprov'],
    columns: [latest, synced, ready, reason, message],
  },
  Version: {
    description:
      'Version is one archive: a module version, or a provider version for one operating system and architecture.',
    shortNames: ['tfver'],
    columns: [
      { name: 'Type', type: 'string', jsonPath: '.spec.type' },
      { name: 'Version', type: 'string', jsonPath: '.spec.version' },
      { name: 'OS', type: 'string', jsonPath: '.spec.operatingSystem' },
      { name: 'Arch', type: 'string', jsonPath: '.spec.architecture' },
      { name: 'State', type: 'string', jsonPath: '.status.lifecycle.state' },
      synced,
      ready,
      reason,
      message,
    ],
  },
  Depot: {
    description:
      'Depot is a list of modules and providers that are kept in sync with their sources.',
    shortNames: [],
    columns: [
      { name: 'Interval', type: 'integer', jsonPath: '.spec.pollingIntervalMinutes' },
      { name: 'Polled', type: 'date', jsonPath: '.status.lastPoll' },
      ready,
      reason,
      message,
      { name: 'Modules', type: 'string', jsonPath: '.status.modules', priority: 1 },
      { name: 'Providers', type: 'string', jsonPath: '.status.providers', priority: 1 },
    ],
  },
  GroupBinding: {
    description: 'GroupBinding grants the members of a group access to modules and providers.',
    shortNames: ['gb'],
    columns: [{ name: 'Expression', type: 'string', jsonPath: '.spec.expression' }, ready],
  },
}

/** The CustomResourceDefinition of a kind, in the server's API group. */
export function customResourceDefinition(kind: CustomResourceKind, apiGroup: string) {
  const { plural } = kinds[kind]
  const { shortNames, columns } = presentation[kind]
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${apiGroup}` },
    spec: {
      group: apiGroup,
      names: {
        kind,
        listKind: `${kind}List`,
        plural,
        singular: kind.toLowerCase(),
        ...(shortNames.length > 0 && { shortNames }),
        // kubectl looks up categories before names, so no kind may have the name of a category.
        categories: ['depots-all'],
      },
      scope: 'Namespaced',
      versions: [
        {
          name: apiVersion,
          served: true,
          storage: true,
          additionalPrinterColumns: [...columns, age],
          subresources: { status: {} },
          schema: { openAPIV3Schema: rootSchema(kind) },
        },
      ],
    },
  }
}

/** API servers check `metadata` themselves, and accept only its type here. */
function rootSchema(kind: CustomResourceKind): StructuralSchema {
  const { spec, status } = structuralSchema(kinds[kind].schema).properties ?? {}
  return {
    description: presentation[kind].description,
    type: 'object',
    required: ['spec'],
    properties: {
      apiVersion: { description: 'Group and version of the schema.', type: 'string' },
      kind: { description: 'Kind of the object.', type: 'string' },
      metadata: { type: 'object' },
      ...(spec && { spec }),
      ...(status && { status }),
    },
  }
}
