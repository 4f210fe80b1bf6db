import { describe, expect, it } from 'vitest'
import { customResourceKinds, type StructuralSchema } from '../pkg/api/v1alpha1/v1alpha1.ts'
import { customResourceDefinition } from './definitions.ts'

const keywords = [
  'description',
  'type',
  'format',
  'properties',
  'required',
  'items',
  'additionalProperties',
  'enum',
  'pattern',
  'minLength',
  'maxLength',
  'minimum',
  'maximum',
  'minItems',
  'maxItems',
  // Only with keywords for values in it.
  'allOf',
  'x-kubernetes-validations',
  'x-kubernetes-list-type',
  'x-kubernetes-list-map-keys',
  'x-kubernetes-map-type',
  'x-kubernetes-preserve-unknown-fields',
]

interface Node {
  readonly path: string
  readonly schema: StructuralSchema
}

function childrenOf({ path, schema }: Node): Node[] {
  const { properties = {}, items, additionalProperties } = schema
  return [
    ...Object.entries(properties).map(([name, child]) => ({
      path: `${path}.${name}`,
      schema: child,
    })),
    ...(items ? [{ path: `${path}[]`, schema: items }] : []),
    ...(additionalProperties ? [{ path: `${path}{}`, schema: additionalProperties }] : []),
  ]
}

function nodesOf(node: Node): Node[] {
  return [node, ...childrenOf(node).flatMap(nodesOf)]
}

const schemaOf = (kind: (typeof customResourceKinds)[number]): StructuralSchema => {
  const [version] = customResourceDefinition(kind, 'acme.example').spec.versions
  return version?.schema.openAPIV3Schema ?? {}
}

/** Paths of the nodes of a kind for which something does not hold. */
const offending = (kind: (typeof customResourceKinds)[number], bad: (node: Node) => boolean) =>
  nodesOf({ path: kind, schema: schemaOf(kind) })
    .filter(bad)
    .map(({ path }) => path)

it('knows the five kinds', () => {
  expect(customResourceKinds).toEqual(['Module', 'Provider', 'Version', 'Depot', 'GroupBinding'])
})

describe.each(customResourceKinds)('the definition of %s', (kind) => {
  it('is named by plural and group', () => {
    const { metadata, spec } = customResourceDefinition(kind, 'acme.example')
    expect(metadata.name).toBe(`${kind.toLowerCase()}s.acme.example`)
    expect(spec).toMatchObject({
      group: 'acme.example',
      scope: 'Namespaced',
      names: { kind, listKind: `${kind}List`, plural: `${kind.toLowerCase()}s` },
      versions: [{ name: 'v1alpha1', served: true, storage: true, subresources: { status: {} } }],
    })
  })

  it('leaves metadata to the API server', () => {
    expect(schemaOf(kind).properties?.['metadata']).toEqual({ type: 'object' })
  })

  it('uses only keywords of a structural schema', () => {
    const unknown = ({ schema }: Node) =>
      Object.keys(schema).some((keyword) => !keywords.includes(keyword))
    expect(offending(kind, unknown)).toEqual([])
    const more = nodesOf({ path: kind, schema: schemaOf(kind) }).flatMap(
      ({ schema }) => (schema['allOf'] ?? []) as StructuralSchema[],
    )
    expect(more.flatMap(Object.keys).filter((keyword) => keyword !== 'pattern')).toEqual([])
  })

  it('gives every node a type that agrees with its children', () => {
    const wrong = ({ schema: { type, items, properties, additionalProperties } }: Node) => {
      if (properties && additionalProperties) return true
      if (type === 'array') return items === undefined
      if (type === 'object') return items !== undefined
      const isScalar = ['string', 'integer', 'number', 'boolean'].includes(type ?? '')
      return !isScalar || Boolean(items ?? properties ?? additionalProperties)
    }
    expect(offending(kind, wrong)).toEqual([])
  })

  it('requires only fields that it declares', () => {
    const wrong = ({ schema: { required = [], properties = {} } }: Node) =>
      required.some((name) => !Object.hasOwn(properties, name))
    expect(offending(kind, wrong)).toEqual([])
  })

  it('knows the formats of integers and dates', () => {
    const wrong = ({ schema: { type, format } }: Node) => {
      if (type === 'integer') return format !== 'int32' && format !== 'int64'
      return format !== undefined && format !== 'date-time'
    }
    expect(offending(kind, wrong)).toEqual([])
  })

  it('limits every list and map whose items have rules, because the API server refuses rules that may cost too much', () => {
    const unbounded = (node: Node) => {
      const { items, additionalProperties, maxItems } = node.schema
      const repeated = Boolean(items ?? additionalProperties) && maxItems === undefined
      return repeated && nodesOf(node).some(({ schema }) => 'x-kubernetes-validations' in schema)
    }
    expect(offending(kind, unbounded)).toEqual([])
  })

  it('describes every field', () => {
    const silent = ({ path, schema }: Node) =>
      /\.\w+$/.test(path) && !path.endsWith('.metadata') && !schema.description?.endsWith('.')
    expect(offending(kind, silent)).toEqual([])
  })

  it('has printer columns that point to fields', () => {
    const [version] = customResourceDefinition(kind, 'acme.example').spec.versions
    const paths = new Set(nodesOf({ path: '', schema: schemaOf(kind) }).map(({ path }) => path))
    const dangling = (version?.additionalPrinterColumns ?? [])
      .map(({ jsonPath }) => jsonPath.replace(/\[\?.*?\)\]/, '[]'))
      .filter((path) => path !== '.metadata.creationTimestamp' && !paths.has(path))
    expect(dangling).toEqual([])
  })
})

it('keeps fields that a newer controller writes into the status of a Version', () => {
  const open = offending('Version', ({ schema }) =>
    Object.hasOwn(schema, 'x-kubernetes-preserve-unknown-fields'),
  )
  expect(open).toEqual(['Version.status', 'Version.status.artifact'])
})
