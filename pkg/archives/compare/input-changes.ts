import type { FolderDocs, InputDocs, InterfaceChange } from '../../api/docs/docs.ts'
import { assignable, parseType } from './type-expression.ts'

/** A change in a folder whose name the caller knows. */
export type FolderChange = Omit<InterfaceChange, 'path'>

/** An item of both versions, or of one. */
export interface VersionPair<T> {
  readonly name: string
  readonly before?: T | undefined
  readonly after?: T | undefined
}

/** Pairs items by name: those of the later version in its order, then the removed ones. */
export function pairs<T extends { readonly name: string }>(
  before: readonly T[],
  after: readonly T[],
): VersionPair<T>[] {
  const old = new Map(before.map((each) => [each.name, each]))
  const now = new Set(after.map(({ name }) => name))
  return [
    ...after.map((each) => ({ name: each.name, before: old.get(each.name), after: each })),
    ...before
      .filter(({ name }) => !now.has(name))
      .map((each) => ({ name: each.name, before: each })),
  ]
}

type Provider = FolderDocs['providers'][number]
type ModuleCall = FolderDocs['modules'][number]

/** Formats `hashicorp/aws ~> 5.0`, with the configurations that the caller passes. */
export const providerText = ({ name, source = name, version, aliases }: Provider): string =>
  [source, version ?? [], aliases.length > 0 ? `(${aliases.join(', ')})` : []].flat().join(' ')

/** Formats `terraform-aws-modules/vpc/aws ~> 5.0`. */
export const moduleText = ({ source, version }: ModuleCall): string =>
  [source ?? 'no source', version ?? []].flat().join(' ')

/** Lists changes of an input. Each aspect is a change of its own. */
export function inputChanges({ name, before, after }: VersionPair<InputDocs>): FolderChange[] {
  const change = { kind: 'input', name } as const
  if (after === undefined) {
    const was = before && typeText(before)
    const why = 'The input was removed; callers that set it get an error.'
    return [{ ...change, ...(was !== undefined && { before: was }), verdict: 'breaking', why }]
  }
  if (before === undefined) {
    const [verdict, why] = after.required
      ? (['breaking', 'Callers must set the new input.'] as const)
      : (['compatible', 'The new input has a default.'] as const)
    return [{ ...change, after: typeText(after), verdict, why }]
  }
  const aspects = [
    typeChange(before, after),
    defaultChange(before, after),
    flagChange(before, after, 'nullable', 'Null is no longer accepted.'),
    flagChange(before, after, 'ephemeral', 'Ephemeral values are no longer accepted.'),
    sensitiveChange(before, after),
    validationChange(before, after),
    deprecationChange(before, after),
  ]
  return aspects.flatMap((aspect) => (aspect === undefined ? [] : { ...change, ...aspect }))
}

type Aspect = Omit<FolderChange, 'kind' | 'name'> | undefined

const typeText = ({ type = 'any' }: InputDocs): string => type

function typeChange(before: InputDocs, after: InputDocs): Aspect {
  const texts = { before: typeText(before), after: typeText(after) }
  if (withoutBlanks(texts.before) === withoutBlanks(texts.after)) return undefined
  const [from, to] = [parseType(before.type), parseType(after.type)]
  if (from === undefined || to === undefined) {
    return { ...texts, verdict: 'unknown', why: 'The types cannot be compared.' }
  }
  const { verdict, why = 'every value that was accepted still is' } = assignable(from, to)
  return { ...texts, verdict, why: `The type changed: ${why}.` }
}

const withoutBlanks = (type: string): string => type.replaceAll(/\s+/g, '')

function defaultChange(before: InputDocs, after: InputDocs): Aspect {
  const isUnknown = [before, after].some((input) => !input.required && input.default === undefined)
  const isSameDefault = isUnknown || isSame(before.default, after.default)
  if (before.required === after.required && isSameDefault) return undefined
  const texts = { before: defaultText(before), after: defaultText(after) }
  if (texts.before === texts.after) return undefined
  if (after.required) {
    const why = 'Callers must set the input, because it no longer has a default.'
    return { ...texts, verdict: 'breaking', why }
  }
  const why = before.required ? 'The input has a default now.' : 'The default changed.'
  return { ...texts, verdict: 'compatible', why }
}

const defaultText = ({ required, default: value }: InputDocs): string =>
  required ? 'no default' : value === undefined ? 'a default' : `default = ${sorted(value)}`

/** Cheaper than sorting, which large defaults need only if this returns false. */
const isSame = (before: unknown, after: unknown): boolean =>
  JSON.stringify(before) === JSON.stringify(after)

/** The order of attributes does not matter. */
const sorted = (value: unknown): string =>
  JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  )

/** A flag that callers rely on while it is set. */
function flagChange(
  before: InputDocs,
  after: InputDocs,
  flag: 'nullable' | 'ephemeral',
  why: string,
): Aspect {
  if (before[flag] === after[flag]) return undefined
  const texts = { before: `${flag} = ${before[flag]}`, after: `${flag} = ${after[flag]}` }
  return after[flag]
    ? { ...texts, verdict: 'compatible', why: `The input is ${flag} now.` }
    : { ...texts, verdict: 'breaking', why }
}

function sensitiveChange(before: InputDocs, after: InputDocs): Aspect {
  if (before.sensitive === after.sensitive) return undefined
  return {
    before: `sensitive = ${before.sensitive}`,
    after: `sensitive = ${after.sensitive}`,
    verdict: 'compatible',
    why: after.sensitive ? 'The value is hidden in plans now.' : 'The value is shown in plans now.',
  }
}

function validationChange(before: InputDocs, after: InputDocs): Aspect {
  const messagesOf = ({ validations }: InputDocs) => new Set(validations.map((it) => it.message))
  const [old, now] = [messagesOf(before), messagesOf(after)]
  const added = [...now.difference(old)]
  const removed = [...old.difference(now)]
  if (added.length + removed.length === 0) return undefined
  const [was, is] = [removed, added].map((messages) => messages.join('; ') || 'no such validation')
  const texts = { before: was, after: is }
  if (added.length === 0) {
    return { ...texts, verdict: 'compatible', why: 'A validation was removed.' }
  }
  const why = 'A new or changed validation may refuse values that were accepted.'
  return { ...texts, verdict: 'unknown', why }
}

function deprecationChange(before: InputDocs, after: InputDocs): Aspect {
  const texts = { before: deprecationText(before), after: deprecationText(after) }
  if (texts.before === texts.after) return undefined
  const why =
    after.deprecated === undefined
      ? 'The input is no longer deprecated.'
      : 'The input is deprecated.'
  return { ...texts, verdict: 'compatible', why }
}

const deprecationText = ({ deprecated = 'not deprecated' }: InputDocs): string => deprecated
