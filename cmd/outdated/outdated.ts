import { plainText, problemText, readUses, type Use } from '../../pkg/archives/docs/docs.ts'
import {
  closest,
  mistakeIn,
  OptionsError,
  type OutdatedCommandOptions,
} from '../../pkg/base/options/options.ts'
import { Slots } from '../../pkg/base/pacing/pacing.ts'
import { stdout } from '../../pkg/base/run/run.ts'
import { programVersion } from '../../pkg/base/telemetry/telemetry.ts'
import { openRegistry, tokenInFile } from '../registry/registry.ts'
import { checks, type Item, type Registered } from './items.ts'
import { judge } from './judge.ts'
import { asJson, asMarkdown, asSarif, asText } from './report.ts'

/** Maximum number of concurrent requests. */
const atOnce = 8

/**
 * Prints what a working directory uses that needs attention.
 *
 * @returns the exit status: 1 for a finding, otherwise 2 if something could not be judged or was not scanned
 * @throws OptionsError if there is nothing to read
 */
export async function outdated(
  options: OutdatedCommandOptions,
  [dir = '.', ...others]: readonly string[],
): Promise<number> {
  if (others.length > 0) throw new OptionsError(['write one folder'])
  const ignored = new Set(options.ignore)
  const unknown = [...ignored].find((check) => !(check in checks))
  if (unknown !== undefined) {
    throw new OptionsError([
      `--ignore: ${unknown} is not a finding: write ${Object.keys(checks).join(', ')}`,
    ])
  }
  const { uses, problems, isConfiguration } = await readUses(dir).catch(mistakeIn(dir))
  if (!isConfiguration && uses.length === 0) {
    throw new OptionsError([`${dir} has no configuration: name the folder that init runs in`])
  }
  const wanted = options.host?.map(plainHost)
  requireHosts(wanted ?? [], new Set(uses.flatMap((use) => partsOf(use)?.at ?? [])))
  const items = await itemsOf(
    uses.map((use) => registeredIn(use, wanted)),
    options,
  )
  const shown = items.map((item) => ({
    ...item,
    findings: item.findings.filter(({ check }) => !ignored.has(check)),
    unscanned: ignored.has('vulnerable') ? undefined : item.unscanned,
  }))
  for (const problem of problems)
    process.stderr.write(`depot: ${plainText(problemText(problem))}\n`)
  const print = { text: asText, json: asJson, sarif: asSarif, markdown: asMarkdown }[options.output]
  stdout.write(plainText(print({ items: shown, problems, version: programVersion })))
  if (shown.some(({ findings }) => findings.length > 0)) return 1
  const isUnknown = ({ undecided, unscanned }: Item) => (undecided ?? unscanned) !== undefined
  return problems.length > 0 || shown.some(isUnknown) ? 2 : 0
}

async function itemsOf(
  uses: readonly (Registered | Item)[],
  options: OutdatedCommandOptions,
): Promise<Item[]> {
  const asked = uses.filter((use) => 'host' in use)
  const others = uses.filter((use) => 'findings' in use)
  const hosts = [...new Set(asked.map(({ host }) => host))]
  // --token-file requires exactly one --host, so no other registry gets the token.
  const given = options.tokenFile ? await tokenInFile(options.tokenFile) : undefined
  if (hosts.length === 0) return others
  await using registry = await openRegistry(options, hosts, given)
  const slots = new Slots({ max: atOnce, maxWaiting: Infinity })
  const groups = [...Map.groupBy(asked, ({ host, kind }) => `${kind} ${host}`).values()]
  const judged = await Promise.all(
    groups.map(async ([first, ...rest]) => {
      if (first === undefined) return []
      const one = await judge(first, registry)
      const { isUnreachable, undecided } = one
      // Waits once for a registry that does not answer.
      if (isUnreachable) return [one, ...rest.map((use) => ({ ...use, findings: [], undecided }))]
      return [one, ...(await Promise.all(rest.map((use) => slots.run(() => judge(use, registry)))))]
    }),
  )
  return [...others, ...judged.flat()].toSorted(byPlace)
}

const byPlace = (a: Item, b: Item): number =>
  compareText(a.file, b.file) || (a.line ?? 0) - (b.line ?? 0) || compareText(a.name, b.name)

const compareText = (a: string, b: string): number => (a < b ? -1 : Number(a > b))

const publicHosts: ReadonlySet<string> = new Set(['registry.terraform.io', 'registry.opentofu.org'])
/** The CLIs treat these as repositories. */
const gitHosts: ReadonlySet<string> = new Set(['github.com', 'bitbucket.org'])

const part = '[A-Za-z0-9](?:[A-Za-z0-9_-]{0,62}[A-Za-z0-9])?'
const host = '[A-Za-z0-9][A-Za-z0-9.-]*(?::\\d{1,5})?'
const addresses = {
  module: new RegExp(`^(?:(${host})/)?(${part}/${part}/${part})(?://.*)?$`),
  provider: new RegExp(`^(?:(${host})/)?(${part}/${part})$`),
}

const plainHost = (name: string): string => name.toLowerCase().replace(/:443$/, '')

/** Refuses texts that are not hosts. It only warns of unused hosts, because a pipeline may list hosts for many folders. */
function requireHosts(wanted: readonly string[], used: ReadonlySet<string>): void {
  const problems = wanted
    .filter((one) => !new RegExp(`^${host}$`).test(one))
    .map((one) => `--host: ${one} is not a host: write it as registry.example.com`)
  if (problems.length > 0) throw new OptionsError(problems)
  for (const one of wanted.filter((it) => !used.has(it))) {
    const meant = closest(
      one,
      [...used].filter((it) => !wanted.includes(it)),
    )
    const advice = meant === undefined ? '' : `: did you mean ${meant}?`
    process.stderr.write(plainText(`depot: --host: nothing here is from ${one}${advice}\n`))
  }
}

/** The host and the path of a registry in a source. */
function partsOf(use: Use) {
  const [, named, path] = addresses[use.kind].exec(use.source) ?? []
  return path === undefined ? undefined : { at: plainHost(named ?? 'registry.terraform.io'), path }
}

/** @param wanted hosts to ask. Default: all except the public registries */
function registeredIn(use: Use, wanted: readonly string[] | undefined): Registered | Item {
  const notJudged = (why: string): Item => ({ ...use, findings: [], notJudged: why })
  const { at = '', path } = partsOf(use) ?? {}
  if (use.source.includes('${')) return notJudged('its source is an expression')
  if (at === 'terraform.io') return notJudged('it is part of the CLI')
  if (path === undefined || gitHosts.has(at)) return notJudged('it is not from a registry')
  if (wanted?.includes(at) ?? !publicHosts.has(at)) return { ...use, host: at, path }
  return notJudged(`it is from ${at}`)
}
