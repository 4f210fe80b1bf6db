import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { onTerminal } from '../../hack/testbed/cli/terminal.ts'
import { tarGzOf } from '../../hack/testbed/registry/archives.ts'
import { depot, depotCommand, fingerprints, put } from './import.fixture.ts'
import { Progress } from './progress.ts'

let dir: string

beforeEach(async () => {
  const made = mkdtempSync(join(tmpdir(), 'depot-terminal-'))
  onTestFinished(() => rmSync(made, { recursive: true }))
  dir = made
  put(join(dir, 'tmp/.keep'), '')
  const archive = await tarGzOf([{ path: 'main.tf', content: Buffer.from('locals {}\n') }])
  for (const version of ['1.0.0', '1.1.0']) {
    put(join(dir, `in/acme/a-module-with-quite-a-long-name/aws/${version}.tar.gz`), archive)
  }
  put(join(dir, 'in/acme/broken/aws/1.0.0.zip'), '<html>')
})

/** Prints an import of the folder on a terminal, and the rows that are visible at the end. */
async function seen(columns: number, env: Readonly<Record<string, string>> = {}) {
  const flags = ['manifests', 'archives', 'spool'].map((name) => {
    return `--${name === 'spool' ? 'spool-dir' : name}=${join(dir, name)}`
  })
  const command = [...depotCommand, 'import', ...flags, join(dir, 'in')]
  const { output, status } = await onTerminal({ command, columns, env })
  const rows = output
    .split('\r\n')
    // Text before a cleared row is not visible.
    .map((row) => row.split('\r\x1b[K').at(-1) ?? '')
  return { output, status, rows }
}

const failure =
  'failed acme/broken/aws 1.0.0: this is a web page, not an archive: zip, tar and tar.gz can be read'
const sum =
  '2 stored, 0 already there, 1 failed; correct what they name, then run the same command again'

describe('the progress of an import on a terminal', () => {
  it.each([
    ['wide', 120],
    ['narrow', 24],
    ['one that does not know its width', 0],
  ])('redraws one line that never wraps: %s', async (_, columns) => {
    const { output, rows, status } = await seen(columns)
    expect(status).toBe(1)
    expect(rows).toEqual([failure, sum, ''])
    const drawn = output.split('\r\x1b[K').map((text) => text.split('\r\n')[0] ?? '')
    const lines = drawn.filter((text) => / of \d+ archives/.test(text))
    expect(lines.length).toBeGreaterThanOrEqual(4)
    for (const line of lines) expect(line.length).toBeLessThan(columns || 80)
    // The only control sequence clears the line, so there are no colors.
    expect(output.replaceAll('\r\x1b[K', '').replaceAll('\r\n', '')).not.toMatch(/[^ -~…]/)
  })

  it('prints plain lines on a terminal that cannot clear a line', async () => {
    const { rows } = await seen(40, { TERM: 'dumb' })
    const stored = (version: string) =>
      `stored acme/a-module-with-quite-a-long-name/aws ${version} (1 kB)`
    expect(rows.toSorted()).toEqual(['', sum, failure, stored('1.0.0'), stored('1.1.0')].toSorted())
  })

  it('follows the width of the terminal', () => {
    const written: string[] = []
    const output = { isTTY: true, columns: 100, write: (text: string) => written.push(text) > 0 }
    const progress = new Progress(output, { sources: 1, dryRun: false }, 'xterm')
    const address = { from: 'folder', path: 'in' } as const
    const label = 'x'.repeat(200)
    progress.event({ kind: 'listed', address, count: 2 })
    progress.event({ kind: 'archive', label, outcome: 'stored' })
    output.columns = 30
    progress.event({ kind: 'archive', label, outcome: 'stored' })
    expect(written.slice(1).map((text) => text.replace('\r\x1b[K', '').length)).toEqual([99, 29])
  })

  it('suggests to run the same command again only if that can help', () => {
    const endOf = (...mayPass: readonly boolean[]) => {
      const written: string[] = []
      const output = { write: (text: string) => written.push(text) > 0 }
      const progress = new Progress(output, { sources: 1, dryRun: false })
      for (const may of mayPass) {
        progress.event({ kind: 'archive', label: 'a', outcome: 'failed', mayPass: may })
      }
      progress.end({ stored: 0, present: 0, planned: 0, failed: mayPass.length })
      return written.at(-1)
    }
    expect(endOf(true)).toContain('1 failed; run the same command again to go on')
    expect(endOf(true, false)).toContain(
      '2 failed; correct what they name, then run the same command again',
    )
  })

  it('removes control characters of an upstream', () => {
    const written: string[] = []
    const output = { write: (text: string) => written.push(text) > 0 }
    const progress = new Progress(output, { sources: 1, dryRun: false })
    const what = 'a\x1b]0;title\x07\x1b[2J\r\nb\u202e'
    progress.event({ kind: 'skipped', what, message: 'no' })
    progress.event({ kind: 'archive', label: what, outcome: 'failed', message: what })
    for (const text of written) expect(text).toMatch(/^[ -~]+\n$/)
  })
})

it('ends quietly when its output is closed', async () => {
  const command = [...depotCommand, 'import', '--manifests=m', '--archives=a', './in']
  const line = `cd ${dir} && ${command.join(' ')} | head -c 1 && echo "status $\{PIPESTATUS[0]}"`
  const { output } = await onTerminal({ command: ['bash', '-c', line], columns: 80 })
  expect(output).toMatch(/^[fs]status (1|141)\r\n$/)
})

it('changes nothing with --dry-run, and reports what the import will do', async () => {
  const args = ['--manifests', 'manifests', '--archives', 'archives', './in']
  await depot(dir, ['import', '--versions', '1.0.0', ...args])
  writeFileSync(join(dir, 'manifests/mine.txt'), 'mine')
  const folders = ['manifests', 'archives', 'in'].map((name) => join(dir, name))
  const before = folders.map(fingerprints)
  const dry = await depot(dir, ['import', '--dry-run', ...args])
  expect(dry.stdout.trim().split('\n').toSorted()).toEqual([
    '2 to import, 1 already there',
    'present acme/a-module-with-quite-a-long-name/aws 1.0.0',
    'would import acme/a-module-with-quite-a-long-name/aws 1.1.0',
    'would import acme/broken/aws 1.0.0',
  ])
  expect(folders.map(fingerprints)).toEqual(before)
})
