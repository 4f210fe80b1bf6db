import { z } from 'zod'

/** Of one scan. The rest is not read: no object may be so much work that everything else waits for it. */
const maxFindings = 2_000

/** Fields of a Version's status that are scans. */
export const scanFields = ['sourceScan', 'binaryScan'] as const

const SecurityFinding = z.object({
  vulnerabilityID: z.string().default('').describe('CVE, GHSA or rule of the scanner.'),
  pkgName: z.string().default('').describe('Package that is affected.'),
  installedVersion: z.string().default('').describe('Version in use.'),
  fixedVersion: z.string().optional().describe('Lowest version that is not affected, if known.'),
  severity: z.string().default('UNKNOWN').describe('CRITICAL, HIGH, MEDIUM, LOW or UNKNOWN.'),
  title: z.string().default('').describe('Short description.'),
})
export type SecurityFinding = z.infer<typeof SecurityFinding>

/** Lists of findings that were checked, by the list that came out of JSON. */
const checkedLists = new WeakMap<readonly unknown[], SecurityFinding[]>()

/** Undefined where it is not valid. */
export function checkFinding(raw: object): SecurityFinding | undefined {
  const { data } = SecurityFinding.safeParse(raw)
  return data && Object.freeze(data)
}

/** Says what a list of findings is when it has been checked, so that it need not be again. */
export function shareChecked(raw: readonly unknown[], checked: SecurityFinding[]): void {
  checkedLists.set(raw, checked)
}

type Findings = z.ZodArray<typeof SecurityFinding>

/** An array of which no more is read than the limit, and nothing that was checked before. */
const Findings = z.core.$constructor<Findings>('Findings', (schema, def) => {
  z.ZodArray.init(schema, def)
  const { _zod: own } = schema
  const check = own.parse.bind(own)
  own.parse = (payload, context) => {
    const { value } = payload
    if (!Array.isArray(value)) return check(payload, context)
    const checked = checkedLists.get(value)
    const all: unknown[] = checked ?? value
    payload.value = all.length > maxFindings ? all.slice(0, maxFindings) : all
    return checked === undefined ? check(payload, context) : payload
  }
})

export const Scan = z.object({
  scannedAt: z.string().optional().describe('When the scan ended, RFC 3339.'),
  findings: new Findings({ type: 'array', element: SecurityFinding })
    .default([])
    .meta({ description: 'What the scan found; at most 2,000.', maxItems: maxFindings }),
})
export type Scan = z.infer<typeof Scan>
