import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { codeOf } from '../../base/errors/errors.ts'
import { walk } from './tree.ts'

const filesEach = 100

/** Checks out a release next to the others, moves the link to it, and removes the previous one, like git-sync. */
const moves = `
for at in $(seq 0 60); do
  mkdir r$at
  (cd r$at && seq -f r$at-%g.yaml ${filesEach} | xargs touch)
  ln -s r$at next
  mv -T next current
  rm -rf r$((at - 1))
  echo $at
done`

it('lists one folder or the other, never a part of one, while a link is moved between them', async () => {
  const cwd = await mkdtemp(join(tmpdir(), 'depot-tree-'))
  onTestFinished(() => rm(cwd, { recursive: true, force: true }))
  const script = spawn('sh', ['-c', moves], { cwd, stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(script, 'exit')
  await once(script.stdout, 'data')
  script.stdout.resume()
  const seen = new Set<string>()
  while (script.exitCode === null) {
    try {
      const { files } = await walk(join(cwd, 'current'))
      const releases = new Set([...files.keys()].map((path) => path.split('-')[0]))
      seen.add(`${releases.size} with ${files.size} files`)
    } catch (error) {
      // A folder that disappears while it is listed is an error, which keeps the previous content.
      seen.add(codeOf(error))
    }
  }
  await ended
  seen.delete('ENOENT')
  expect([...seen]).toEqual([`1 with ${filesEach} files`])
}, 180_000)
