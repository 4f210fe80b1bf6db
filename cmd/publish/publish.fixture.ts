import { join } from 'node:path'
import { vi } from 'vitest'
import { OptionsError, parseOptions, publishCommand } from '../../pkg/base/options/options.ts'
import { stdout } from '../../pkg/base/run/run.ts'
import { publish } from './publish.ts'

/** Runs the command in this process, because starting another takes longer than the command. */
export async function runPublish(dir: string, words: readonly string[]) {
  const written = { stdout: '', stderr: '' }
  const streams = { stdout, stderr: process.stderr }
  const spies = (['stdout', 'stderr'] as const).map((stream) =>
    vi.spyOn(streams[stream], 'write').mockImplementation((text: unknown) => {
      written[stream] += String(text)
      return true
    }),
  )
  const status = await publishIn(dir, words).catch((error: unknown) => {
    if (!(error instanceof OptionsError)) throw error
    written.stderr = error.problems.map((problem) => `depot: ${problem}\n`).join('')
    return 2
  })
  for (const spy of spies) spy.mockRestore()
  return { status, ...written }
}

async function publishIn(dir: string, words: readonly string[]): Promise<number> {
  const at = (name: string) => join(dir, name)
  const folders = words.includes('--token-file') ? [] : ['--archives', at('archives')]
  const absolute = words.map((word) =>
    ['vpc', 'vpc.tar.gz', 'dist', 'registry'].includes(word) ? at(word) : word,
  )
  const parsed = parseOptions(publishCommand, [...absolute, ...folders], {})
  if (parsed.kind !== 'options') throw new Error(`the command line asks for ${parsed.kind}`)
  return publish(parsed.options, parsed.operands)
}
