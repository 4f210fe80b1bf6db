import { cpSync, globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chart, find, render, type Values } from './helm.fixture.ts'
import type { Schema, Value } from './value.ts'

/* The effect of each value. One run of Helm renders all templates hundreds of times, each time with one value changed. */

/** Values whose schema allows more than their templates do. */
const special: Values = {
  'valkey.auth.aclUsers': { default: { permissions: '+changed' } },
  'monitoring.prometheusRule.disabledAlerts': ['DepotDown'],
}

/** Prints which changes have an effect on a template. Each renders templates until one differs. */
const template = `
{{- $initial := dict -}}
{{- range $path := .Files.Get "paths.json" | fromJsonArray -}}
{{- $_ := set $initial $path (include (print $.Template.BasePath "/" $path) $) -}}
{{- end -}}
{{- $found := list -}}
{{- range $change := .Files.Get "changes.json" | fromJsonArray -}}
{{- $values := deepCopy $.Values -}}
{{- $at := $values -}}
{{- range initial $change.path -}}{{- $at = index $at . -}}{{- end -}}
{{- $_ := set $at (last $change.path) $change.to -}}
{{- $context := dict "Values" $values "Release" $.Release "Chart" $.Chart "Capabilities" $.Capabilities "Files" $.Files "Template" $.Template -}}
{{- range $path := $change.templates -}}
{{- if ne (include (print $.Template.BasePath "/" $path) $context) (get $initial $path) -}}
{{- $found = append $found (join "." $change.path) -}}
{{- break -}}
{{- end -}}
{{- end -}}
{{- end -}}
kind: Effects
metadata: {name: effects}
text: {{ $found | toJson | toJson }}
`

/** The values that change the rendered templates, if the other values are those of `base`. */
export function effective(values: readonly Value[], base: Values): Set<string> {
  const folder = mkdtempSync(join(tmpdir(), 'depot-effects-'))
  try {
    // Omits the checks, which would refuse some values, because a change has to appear in the objects.
    const leave = /(NOTES\.txt|values\.schema\.json|templates\/validate\.yaml)$/
    cpSync(chart, folder, { recursive: true, filter: (path) => !leave.test(path) })
    const templates = join(folder, 'templates')
    const paths = globSync('**/*.yaml', { cwd: templates }).toSorted()
    // The templates of a value's own component come first, because most effects are there.
    const ownFirst = ([component]: readonly string[]) => {
      const isOwn = (path: string) => path.startsWith(`${component}/`)
      return [...paths.filter(isOwn), ...paths.filter((path) => !isOwn(path))]
    }
    const changes = values.map(({ name, schema, default: initial }) => ({
      path: name.split('.'),
      to: special[name] ?? changed(schema, valueAt(base, name) ?? initial),
      templates: ownFirst(name.split('.')),
    }))
    writeFileSync(join(folder, 'paths.json'), JSON.stringify(paths))
    writeFileSync(join(folder, 'changes.json'), JSON.stringify(changes))
    writeFileSync(join(templates, 'effects.yaml'), template)
    const { text = '[]' } = find(render(base, { from: folder }), 'Effects', 'effects')
    return new Set(JSON.parse(text) as string[])
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function valueAt(base: unknown, name: string): unknown {
  return name
    .split('.')
    .reduce<unknown>(
      (at, key) => (at instanceof Object && key in at ? Reflect.get(at, key) : undefined),
      base,
    )
}

/** A different value that the schema accepts. */
function changed(schema: Schema, now: unknown): unknown {
  const choices = (schema['enum'] as unknown[] | undefined)?.filter((choice) => choice !== now)
  if (choices !== undefined) return choices.at(-1)
  const { type, items, pattern, maximum } = schema
  if (type === 'boolean') return now !== true
  if (type === 'integer' || type === 'number') return next(Number(now), maximum)
  if (type === 'array') return [...(Array.isArray(now) ? now : []), example(items as Schema)]
  if (type === 'object') return { ...(now as object), ...(example(schema) as object) }
  if (typeof pattern === 'string') return matches.find((text) => fits(text, pattern, now))
  return schema['anyOf'] === undefined ? 'changed' : []
}

const next = (now: number, maximum: unknown) => (now === maximum ? now - 1 : now + 1)

const fits = (text: string, pattern: string, now: unknown) =>
  text !== now && new RegExp(pattern).test(text)

/** Values for the patterns of the table: digests, groups, quantities, durations, shares, paths, addresses. */
const matches = [
  `sha256:${'f'.repeat(64)}`,
  'changed',
  'changed.example.com',
  '7Gi',
  '7m',
  '7',
  '/changed',
  'changed:7',
  'https://changed',
]

/** An item for a list, or an additional entry for a map. */
function example(schema: Schema | undefined): unknown {
  if (schema === undefined) return { name: 'changed' }
  if (schema['type'] === 'string') return 'changed'
  if (schema['type'] === 'array') return [example(schema['items'] as Schema | undefined)]
  const properties = schema['properties'] as Record<string, Schema> | undefined
  if (properties === undefined) return { changed: '7' }
  return Object.fromEntries(
    Object.entries(properties).map(([key, below]) => [
      key,
      below['enum'] === undefined ? example(below) : (below['enum'] as unknown[]).at(-1),
    ]),
  )
}
