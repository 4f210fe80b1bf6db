import type { UpstreamPolicy } from '../../pkg/api/v1alpha1/v1alpha1.ts'
import {
  agesFor,
  type ExpressionRule,
  exceptionsFor,
  isSameAddress,
  type Policy,
  type PolicyOwner,
  type PolicyRefusal,
  refusalOf,
  ruleRefusalOf,
} from '../../pkg/fill/policy/policy.ts'
import type { Subjects } from './subjects.ts'

const units = [
  ['days', 86_400_000],
  ['hours', 3_600_000],
  ['minutes', 60_000],
] as const

/** The decision of a policy about one version or every version of an address. */
interface Verdict {
  /** The Depot with the policy; undefined if only the installation has one. */
  readonly depot: string | undefined
  readonly state: 'ComesIn' | 'Waits' | 'Refused' | 'Depends'
  readonly reasons: readonly string[]
}

/** The policies that apply to an address. */
export interface PolicyQuestion {
  readonly depot: string | undefined
  readonly policy: Policy | undefined
  readonly subjects: Subjects
  readonly address: string
  readonly version: string | undefined
  /** Lines about rules that do not depend on the version, such as signatures. */
  readonly others: readonly string[]
}

export function verdictOf(question: PolicyQuestion): Verdict {
  const { depot, policy, address, version, others } = question
  if (policy === undefined) {
    const reason =
      others.length > 0
        ? 'the policy has no rules for versions, but it has others:'
        : 'there is no policy: everything may come in'
    return { depot, state: 'ComesIn', reasons: [reason, ...others] }
  }
  if (version === undefined) return aboutAll(depot, policy, address, others)
  return aboutVersion(policy, version, question)
}

function aboutVersion(
  policy: Policy,
  version: string,
  { depot, address, subjects, others }: PolicyQuestion,
): Verdict {
  const owner = { Depot: depot ?? 'the Depot', Installation: 'the installation' } as const
  const by = (one: PolicyOwner) => `by the policy of ${owner[one]}`
  const refused = ({ owner: one, why, message }: PolicyRefusal): Verdict => {
    const remedy = why === 'Denied' ? ['an exception of the same policy lets it in'] : []
    return { depot, state: 'Refused', reasons: [`${by(one)}: ${message}`, ...remedy] }
  }
  const nowMs = Date.now()
  const refusal = refusalOf(address, version, policy, nowMs)
  if (refusal !== undefined) return refused(refusal)
  const mayBeSigned = subjects.all.some(({ kind }) => kind === 'Provider')
  /** Facts that a rule needs, and that are unknown until upstream is asked. */
  const unknownOf = ({ expression, needsAge, needsSigner, needsLicence }: ExpressionRule) => [
    ...(needsAge ? ['its age'] : []),
    ...(needsSigner && mayBeSigned ? ['who signed it'] : []),
    ...(needsLicence ? ['its licence'] : []),
    ...(!subjects.isKnown && /\bsystem\b/.test(expression) ? ['its system'] : []),
  ]
  const isOpen = (rule: ExpressionRule) => unknownOf(rule).length > 0
  const decided = policy.layers.map((layer) => ({
    ...layer,
    rules: layer.rules.filter((rule) => !isOpen(rule)),
  }))
  const refusals = subjects.all.map((facts) =>
    ruleRefusalOf({ address, version, ...facts }, { layers: decided }, nowMs),
  )
  const [first] = refusals.filter((one) => one !== undefined)
  if (first !== undefined && refusals.every((one) => one !== undefined)) return refused(first)
  const open = policy.layers.flatMap((layer) =>
    layer.rules.filter(isOpen).map((rule) => {
      const what = unknownOf(rule).join(' and ')
      return `on ${what}, ${by(layer.owner)}: ${rule.expression}: ${rule.reason}`
    }),
  )
  const kind =
    first && `on what the address names (--depot tells), ${by(first.owner)}: ${first.message}`
  const depends = kind === undefined ? open : [...open, kind]
  const exceptions = exceptionsFor(address, version, policy).map(
    (one) => `the exception of ${one.by} names it: ${one.reason}`,
  )
  const ages = agesFor(address, version, policy)
  const waits = (['Installation', 'Depot'] as const)
    .filter((one) => ages[one] > 0)
    .map((one) => `until it is ${span(ages[one])} old, ${by(one)}`)
  const known = [...exceptions, ...others]
  if (depends.length > 0)
    return { depot, state: 'Depends', reasons: [...depends, ...waits, ...known] }
  if (waits.length > 0) return { depot, state: 'Waits', reasons: [...waits, ...known] }
  const reasons = exceptions.length > 0 ? known : ['no rule holds it back', ...others]
  return { depot, state: 'ComesIn', reasons }
}

function aboutAll(
  depot: string | undefined,
  policy: Policy,
  address: string,
  others: readonly string[],
): Verdict {
  const { layers } = policy
  const at = layers.map((layer) => ({
    ...layer,
    deny: layer.deny.filter((rule) => rule.isAt(address)),
    allow: layer.allow.map((list) => list.filter((rule) => rule.isAt(address))),
    exceptions: layer.exceptions.filter((one) => isSameAddress(one.address, address)),
  }))
  const isShut = at.some(({ allow }) => allow.some((list) => list.length === 0))
  const reasons = [...policyLines({ ...policy, layers: at }), ...others]
  if (isShut) return { depot, state: 'Refused', reasons: ['no rule of an allow list names it'] }
  return { depot, state: reasons.length > 0 ? 'Depends' : 'ComesIn', reasons }
}

/** Formats the rules of a policy, a line each. */
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

/** Formats lines about signatures and about lists without dates. */
export function otherLines(
  ofDepot: readonly UpstreamPolicy[],
  installation: UpstreamPolicy | undefined,
): string[] {
  const lines = (
    whose: string,
    { requireSignature, trustedKeys, trustFirstListing }: UpstreamPolicy,
  ) => [
    ...(requireSignature === true ? [`${whose}providers need a signature`] : []),
    ...(trustedKeys === undefined
      ? []
      : [`${whose}providers need a signature by one of ${trustedKeys.length} trusted keys`]),
    ...(trustFirstListing === false ? [`${whose}a first list without dates is not trusted`] : []),
  ]
  return [
    ...lines('installation: ', installation ?? {}),
    ...ofDepot.flatMap((policy) => lines('', policy)),
  ]
}

const titles = {
  ComesIn: 'comes in at once',
  Waits: 'is held back',
  Refused: 'is refused',
  Depends: 'depends',
} as const

export function testText(
  { depot, state, reasons }: Verdict,
  address: string,
  version: string | undefined,
): string {
  const isAll = version === undefined
  const what = isAll ? address : `${address} ${version}`
  const title = isAll && state === 'Depends' ? 'has rules' : titles[state]
  const where = depot === undefined ? '' : `${depot}: `
  return `${where}${what} ${title}\n${reasons.map((reason) => `  ${reason}\n`).join('')}`
}

/** A duration in its largest whole unit: 7 days, 36 hours. */
function span(ms: number): string {
  const [name, unitMs] = units.find(([, unit]) => ms % unit === 0) ?? ['minutes', 60_000]
  const count = ms / unitMs
  return `${count} ${count === 1 ? name.slice(0, -1) : name}`
}
