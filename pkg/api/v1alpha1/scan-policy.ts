import * as z from 'zod'
import * as rules from './rules.ts'

/** Consequences of findings for the versions of a module or provider. */
export const ScanPolicy = z
  .object({
    block: z
      .enum(['CRITICAL', 'HIGH'])
      .optional()
      .describe('Quarantine versions with findings of this severity, or a worse one.'),
    onMissing: z
      .enum(['Serve', 'Hold'])
      .optional()
      .describe('What to do with a version that was not scanned, if `block` is set. Default Hold.'),
    ignore: z
      .array(
        z.object({
          id: z
            .string()
            .min(1)
            .meta({ description: 'The vulnerabilityID of the finding.', maxLength: 128 }),
          reason: z.string().min(1).meta({ description: 'Why it is accepted.', maxLength: 1024 }),
          until: z.string().meta({
            description: 'Last day on which it is accepted, or the end as RFC 3339.',
            ...rules.patterned(rules.endDate, 40),
          }),
        }),
      )
      .optional()
      .meta({
        description: 'Findings that do not block. They are shown as others are.',
        maxItems: 200,
      }),
  })
  .describe('Which findings of scans quarantine a version.')
export type ScanPolicy = z.infer<typeof ScanPolicy>

/** Whether a version waits for its first scan. */
export const holdsUnscanned = ({ block, onMissing = 'Hold' }: ScanPolicy = {}): boolean =>
  block !== undefined && onMissing === 'Hold'
