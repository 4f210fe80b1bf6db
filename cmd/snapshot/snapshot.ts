import { createWriteStream } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ReadableStream } from 'node:stream/web'
import { messageOf } from '../../pkg/base/errors/errors.ts'
import {
  mistakeIn,
  OptionsError,
  type SnapshotCommandOptions,
} from '../../pkg/base/options/options.ts'
import { stdout } from '../../pkg/base/run/run.ts'

/**
 * Takes a heap snapshot through the admin port.
 *
 * @returns a message with the file; without a file, the snapshot goes to standard output
 * @throws OptionsError if the process does not answer, or the file cannot be written
 */
export async function snapshot({ adminUrl, out }: SnapshotCommandOptions): Promise<string> {
  const response = await fetch(`${adminUrl}/heap`, { method: 'POST' }).catch((error: unknown) => {
    const reason = messageOf(error instanceof Error ? (error.cause ?? error) : error)
    throw new OptionsError([`--admin-url: ${adminUrl} does not answer: ${reason}`])
  })
  if (response.status !== 200 || response.body === null) {
    const said = (await response.text()).trim()
    throw new OptionsError([`--admin-url: ${adminUrl} answered ${response.status}: ${said}`])
  }
  const body = Readable.fromWeb(response.body as ReadableStream<Uint8Array>)
  if (out === undefined) {
    await pipeline(body, stdout, { end: false })
    return ''
  }
  const file = createWriteStream(out, { mode: 0o600, flags: 'wx' })
  await pipeline(body, file).catch(mistakeIn('--out'))
  return `${out}: open it in the memory tab of Chrome's developer tools. It contains secrets.\n`
}
