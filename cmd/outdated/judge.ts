import { parse, rcompare } from 'semver'
import * as z from 'zod'
import { VersionLifecycle } from '../../pkg/api/browse/browse.ts'
import { parseConstraints, selectVersions } from '../../pkg/api/constraint/constraint.ts'
import { distinctFindings, rankOf } from '../../pkg/api/findings/findings.ts'
import { lifecycleWords } from '../../pkg/api/lifecycle/lifecycle.ts'
import { jsonOf, messageOf, printable } from '../../pkg/base/errors/errors.ts'
import { FillError } from '../../pkg/fill/sources/sources.ts'
import { VersionReport } from '../findings/findings.ts'
import { Claims, type Registry, refusalOf } from '../registry/registry.ts'
import type { Item, OutdatedCheck, OutdatedFinding, Registered } from './items.ts'

/** Longer messages are cut. */
const maxTextBytes = 400

const Deprecation = z.object({ reason: z.string(), link: z.string().optional() })
const Listed = z.object({ version: z.string().max(256), deprecation: Deprecation.nullish() })
const ModuleList = z.object({ modules: z.array(z.object({ versions: z.array(Listed) })).min(1) })
const ProviderList = z.object({ versions: z.array(Listed) })
const Lifecycle = VersionLifecycle.loose()
const Versions = z.object({
  items: z.array(z.object({ version: z.string(), lifecycle: Lifecycle.optional() })),
})

/** A question that a registry did not answer. */
class NoAnswer extends Error {}

/** Compares a use with the answer of its registry. It does not throw if the registry fails: then the item is undecided. */
export async function judge(
  used: Registered,
  registry: Registry,
): Promise<Item & { readonly isUnreachable?: boolean }> {
  try {
    return await judged(used, registry)
  } catch (error) {
    const undecided = printable(messageOf(error), maxTextBytes)
    return { ...used, findings: [], undecided, isUnreachable: error instanceof FillError }
  }
}

async function judged(used: Registered, registry: Registry): Promise<Item> {
  const { kind, host, path, constraint = '', installed } = used
  const constraints = parseConstraints(constraint)
  const answer = await asked(registry, host, `${kind}s.v1`, `${path}/versions`)
  if (answer === undefined) {
    const message = `the registry has no ${kind} ${path}, or you may not see it: compare the address with the explorer; ${registry.remedyFor(host)}`
    return { ...used, findings: [{ check: 'gone', message }] }
  }
  const listed = listedIn(kind, answer.text)
  const isDepot = answer.url.pathname.endsWith(`/depot/${kind}s/v1/${path}/versions`)
  const numbers = listed.map(({ version }) => version)
  const [latest] = selectVersions(numbers, parseConstraints('')).versions
  const [newest] = selectVersions(numbers, constraints).versions
  const version = installed ?? newest ?? exactly(constraint)
  const known = { ...used, version, newest, latest }
  if (version === undefined) {
    const message = `no listed version meets ${JSON.stringify(constraint)}: ${latest === undefined ? 'the registry lists none' : `the latest is ${latest}`}`
    return { ...known, findings: [{ check: 'gone', message }] }
  }
  const findings: OutdatedFinding[] = []
  if (newest !== undefined && isOlder(version, newest)) {
    const why = constraint === '' ? 'is the newest' : `meets ${JSON.stringify(constraint)}`
    findings.push({ check: 'behind', message: `${newest} ${why}: run init -upgrade` })
  }
  if (latest !== undefined && latest !== newest && isOlder(newest ?? version, latest)) {
    const message = `${latest} is the latest, which ${JSON.stringify(constraint)} excludes`
    findings.push({ check: 'excluded', message })
  }
  const row = listed.find((one) => one.version === version)
  const state = isDepot ? await stateOf(used, version, registry) : undefined
  findings.push(...stateFindings(version, row, state))
  return {
    ...known,
    findings,
    unscanned:
      isDepot && findings.every(({ check }) => check !== 'gone') ? unscannedIn(state) : undefined,
    note: isDepot ? undefined : noState,
  }
}

const noState = 'the registry says nothing about states and findings of this version'

/** A version in the browse API of Depot. */
interface State {
  readonly lifecycle: z.infer<typeof Lifecycle> | undefined
  readonly report: z.infer<typeof VersionReport> | undefined
}

/** @returns undefined if all of a version was scanned */
function unscannedIn(state: State | undefined): string | undefined {
  if (state?.report === undefined) {
    return 'the registry does not show its states and findings to you'
  }
  return state.report.unscanned.join(', ') || undefined
}

const checkOf = { Deprecated: 'deprecated', Yanked: 'yanked', Quarantined: 'quarantined' } as const

function* stateFindings(
  version: string,
  row: z.infer<typeof Listed> | undefined,
  state: State | undefined,
): Generator<OutdatedFinding> {
  const lifecycle = state?.lifecycle
  if (lifecycle !== undefined) {
    const words = lifecycleWords(lifecycle)
    const check: OutdatedCheck = checkOf[lifecycle.state]
    yield { check, message: said(version, check, words), replacedBy: lifecycle.replacedBy }
  } else if (row?.deprecation) {
    const { reason, link } = row.deprecation
    const words = lifecycleWords({ message: reason, link })
    yield { check: 'deprecated', message: said(version, 'deprecated', words) }
  } else if (row === undefined) {
    const message = `the registry does not list ${version}: init fails where it is not cached`
    yield { check: 'gone', message }
  }
  const found = state?.report === undefined ? [] : distinctFindings(state.report)
  const counts = ['CRITICAL', 'HIGH'].flatMap((severity, rank) => {
    const count = found.filter(({ finding }) => rankOf(finding.severity) === rank).length
    return count > 0 ? [`${count} ${severity}`] : []
  })
  if (counts.length > 0) {
    yield { check: 'vulnerable', message: `a scan of ${version} found ${counts.join(' and ')}` }
  }
}

const said = (version: string, state: string, words: string): string =>
  printable(`${version} is ${state}${words && `: ${words}`}`, maxTextBytes)

const isOlder = (version: string, than: string): boolean => {
  const [a, b] = [parse(version), parse(than)]
  return a !== null && b !== null && rcompare(a, b) > 0
}

/** Returns the version of a constraint that allows only one. */
const exactly = (constraint: string): string | undefined =>
  /^=?\s*v?(\d+\.\d+\.\d\S*)$/.exec(constraint.trim())?.[1]

const listedIn = (kind: Registered['kind'], text: string) =>
  kind === 'module'
    ? (read(ModuleList, text).modules[0]?.versions ?? [])
    : read(ProviderList, text).versions

/** @returns undefined if the browse API does not show this resource */
async function stateOf(
  { kind, host, path }: Registered,
  version: string,
  registry: Registry,
): Promise<State | undefined> {
  const ui = (question: string) => asked(registry, host, `${kind}s.v1`, `../../ui/v1/${question}`)
  const explained = await ui(`explain?address=${encodeURIComponent(path)}`)
  if (explained === undefined) return undefined
  const claims = read(Claims, explained.text).claims.filter((claim) => claim.kind === kind)
  const object = claims.find(({ reason }) => reason !== 'AddressTaken') ?? claims[0]
  if (object === undefined) return undefined
  const [namespace = ''] = path.split('/')
  const resource = `resources/${namespace}/${kind}/${encodeURIComponent(object.name)}`
  const query = new URLSearchParams({ by: 'version', q: version, page_size: '100' })
  const found = await ui(`${resource}/versions?${query.toString()}`)
  if (found === undefined) return undefined
  const { items } = read(Versions, found.text)
  const own = items.filter((item) => item.version === version)
  const active = own.find(({ lifecycle }) => lifecycle === undefined)
  const scanned = await ui(`${resource}/findings?version=${encodeURIComponent(version)}`)
  return {
    lifecycle: active === undefined ? own[0]?.lifecycle : undefined,
    report: scanned && read(VersionReport, scanned.text),
  }
}

/** An answer; undefined for 404. @throws NoAnswer for any other status */
async function asked(
  registry: Registry,
  host: string,
  service: 'modules.v1' | 'providers.v1',
  path: string,
): Promise<{ readonly text: string; readonly url: URL } | undefined> {
  const answer = await registry.ask(host, service, path)
  const { status, body, url } = answer
  if (status === 200) return { text: body.toString(), url }
  if (status === 404) return undefined
  const { text = '', remedy } = refusalOf(answer, registry.remedyFor(host))
  throw new NoAnswer(`${host} answered ${status}${text && `: ${text}`}${remedy}`)
}

function read<T>(schema: z.ZodType<T>, text: string): T {
  const { data } = schema.safeParse(jsonOf(text))
  if (data !== undefined) return data
  throw new NoAnswer('the answer of the registry does not follow its protocol')
}
