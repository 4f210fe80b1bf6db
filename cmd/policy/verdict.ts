import {
  agesFor,
  exceptionsFor,
  type Policy,
  refusalOf,
  ruleRefusalOf,
} from '../../pkg/fill/policy/policy.ts'

const units = [
  ['days', 86_400_000],
  ['hours', 3_600_000],
  ['minutes', 60_000],
] as const

/** The decision of a policy about a version, or about every version of an address. */
interface Verdict {
  /** The Depot with the policy; undefined: there is only that of the installation. */
  readonly depot: string | undefined
  readonly state: 'ComesIn' | 'Waits' | 'Refused' | 'Depends'
  readonly reasons: readonly string[]
}

export function verdictOf(
  depot: string | undefined,
  policy: Policy | undefined,
  address: string,
  version: string | undefined,
): Verdict {
  if (policy === undefined) {
    return { depot, state: 'ComesIn', reasons: ['there is no policy: everything may come in'] }
  }
  if (version === undefined) return aboutAll(depot, policy, address)
  const nowMs = Date.now()
  const refusal =
    refusalOf(address, version, policy, nowMs) ??
    ruleRefusalOf(address, version, policy, nowMs, factsOf(address))
  const owner = { Depot: depot ?? 'the Depot', Installation: 'the installation' } as const
  if (refusal !== undefined) {
    const remedy = refusal.isDenied ? ['an exception of the same policy lets it in'] : []
    const reasons = [`by the policy of ${owner[refusal.owner]}: ${refusal.message}`, ...remedy]
    return { depot, state: 'Refused', reasons }
  }
  const exceptions = exceptionsFor(address, version, policy).map(
    ({ by, reason }) => `the exception of ${by} names it: ${reason}`,
  )
  const ages = agesFor(address, version, policy)
  const waits = (['Installation', 'Depot'] as const)
    .filter((one) => ages[one] > 0)
    .map((one) => `until it is ${span(ages[one])} old, by the policy of ${owner[one]}`)
  if (waits.length > 0) return { depot, state: 'Waits', reasons: [...waits, ...exceptions] }
  return {
    depot,
    state: 'ComesIn',
    reasons: exceptions.length > 0 ? exceptions : ['nothing holds it'],
  }
}

/** A source whose address has a provider's shape is judged as a module: rules see its name then. */
const factsOf = (address: string) => {
  const system = address.split('/').length > 3 ? address.split('/').at(-1) : undefined
  return { kind: 'Module', system, sinceMs: Date.now() } as const
}

function aboutAll(depot: string | undefined, policy: Policy, address: string): Verdict {
  const { layers } = policy
  const at = layers.map((layer) => ({
    ...layer,
    deny: layer.deny.filter((rule) => rule.isAt(address)),
    allow: layer.allow.map((list) => list.filter((rule) => rule.isAt(address))),
    exceptions: layer.exceptions.filter((one) => one.address === address),
  }))
  const isShut = at.some(({ allow }) => allow.some((list) => list.length === 0))
  const reasons = policyLines({ ...policy, layers: at })
  if (isShut) return { depot, state: 'Refused', reasons: ['no rule of an allow list names it'] }
  return { depot, state: reasons.length > 0 ? 'Depends' : 'ComesIn', reasons }
}

/** The rules of a policy, a line each. */
export function policyLines(policy: Policy | undefined): string[] {
  const nowMs = Date.now()
  return (policy?.layers ?? []).flatMap((layer) => {
    const whose = layer.owner === 'Installation' ? 'installation: ' : ''
    const ofRules = (word: string, rules: (typeof layer)['deny']) =>
      rules.map(({ address, versions = 'every version', reason, until, untilMs }) => {
        const end = until === undefined ? '' : ` until ${until}`
        const ended = untilMs <= nowMs ? ' (ended)' : ''
        return `${whose}${word}${end}${ended}: ${versions} of ${address}: ${reason}`
      })
    return [
      ...(layer.minimumAgeMs > 0 ? [`${whose}minimum age: ${span(layer.minimumAgeMs)}`] : []),
      ...ofRules('deny', layer.deny),
      ...layer.allow.flatMap((list) =>
        list.length === 0 ? [`${whose}allow: nothing`] : ofRules('allow', list),
      ),
      ...layer.rules.map(({ expression, reason }) => `${whose}rule: ${expression}: ${reason}`),
      ...layer.exceptions.map(
        ({ address, version, by, reason }) =>
          `${whose}exception: ${version} of ${address}, by ${by}: ${reason}`,
      ),
    ]
  })
}

const titles = {
  ComesIn: 'comes in at once',
  Waits: 'is held back',
  Refused: 'is refused',
  Depends: 'has rules',
} as const

export function testText(
  { depot, state, reasons }: Verdict,
  address: string,
  version: string | undefined,
): string {
  const what = version === undefined ? address : `${address} ${version}`
  const where = depot === undefined ? '' : `${depot}: `
  return `${where}${what} ${titles[state]}\n${reasons.map((reason) => `  ${reason}\n`).join('')}`
}

/** A duration in its largest whole unit: 7 days, 36 hours. */
function span(ms: number): string {
  const [name, unitMs] = units.find(([, unit]) => ms % unit === 0) ?? ['minutes', 60_000]
  const count = ms / unitMs
  return `${count} ${count === 1 ? name.slice(0, -1) : name}`
}
