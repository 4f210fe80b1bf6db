import * as z from 'zod'
import { optionalList, optionalOneOf, someText, text } from '../schema/schema.ts'
import * as rules from './rules.ts'

/** Consequences of findings for the versions of a module or provider. */
export const ScanPolicy = z
  .object({
    block: optionalOneOf(
      ['CRITICAL', 'HIGH'],
      'Quarantine versions with findings of this severity, or a worse one.',
    ),
    onMissing: optionalOneOf(
      ['Serve', 'Hold'],
      'What to do with a version that was not scanned, if `block` is set. Default Hold.',
    ),
    ignore: optionalList(
      z.object({
        id: someText('The vulnerabilityID of the finding.', 128),
        reason: someText('Why it is accepted.', 1024),
        until: text(
          'Last day on which it is accepted, or the end as RFC 3339.',
          rules.patterned(rules.endDate, 40),
        ),
      }),
      'Findings that do not block. They are shown as others are.',
      { maxItems: 200 },
    ),
  })
  .describe('Which findings of scans quarantine a version.')
export type ScanPolicy = z.infer<typeof ScanPolicy>

/** Whether a version waits for its first scan. */
export const holdsUnscanned = ({ block, onMissing = 'Hold' }: ScanPolicy = {}): boolean =>
  block !== undefined && onMissing === 'Hold'
