import * as z from 'zod'
import { type Command, flagged, type Options } from './table.ts'
import { baseUrl } from './urls.ts'
import { toggle } from './values.ts'

const options = flagged({
  heap: toggle(
    'Take a snapshot of all JavaScript objects. Required, because there is no other kind yet.',
  ),
  adminUrl: {
    value: baseUrl,
    default: 'http://127.0.0.1:9090',
    meaning: 'Admin address of the process, as seen from its own pod or machine.',
  },
  out: {
    value: z.string().min(1, 'must not be empty').meta({ title: 'FILE' }),
    otherwise: 'standard output',
    meaning: 'File for the snapshot. It contains secrets, so that only this user can read it.',
  },
})

/** Takes a heap snapshot of a running process. */
export const snapshotCommand = {
  program: 'depot snapshot',
  summary: 'Takes a heap snapshot of a running server, controller or explorer, for an analysis.',
  examples: [
    'depot snapshot --heap --out server.heapsnapshot',
    'depot snapshot --heap --admin-url http://127.0.0.1:9091 --out explorer.heapsnapshot',
  ],
  options,
  rules: [
    ({ given }) =>
      given('heap') ? undefined : '--heap is required, because nothing else can be taken: set it',
  ],
} satisfies Command<typeof options>

export type SnapshotCommandOptions = Options<typeof options>
