import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { madeFolderProblem, temporaryFolder } from './run.ts'

const dir = mkdtempSync(join(tmpdir(), 'depot-folders-'))
beforeAll(() => writeFileSync(join(dir, 'file'), ''))
afterAll(() => rmSync(dir, { recursive: true }))

describe('a folder that an option names', () => {
  it('is created with its parents, and may exist', () => {
    expect(madeFolderProblem('--archives', join(dir, 'a/b/c/'))).toBeUndefined()
    expect(madeFolderProblem('--archives', join(dir, 'a/b/c'))).toBeUndefined()
    expect(readdirSync(join(dir, 'a/b'))).toEqual(['c'])
  })

  it.each([
    ['file', 'DIR/file is not a folder; name a folder, or a path that is free'],
    ['file/a/b', 'a part of DIR/file/a/b is a file; name a path of folders'],
  ])('is refused as %s', (path, message) => {
    const problem = madeFolderProblem('--archives', join(dir, path))
    expect(problem).toBe(`--archives: ${message.replace('DIR', dir)}`)
  })

  // Root may write to every other folder.
  it.runIf(process.platform === 'linux')('is refused where this user may not write', () => {
    expect(madeFolderProblem('--archives', '/sys/depot/a')).toBe(
      '--archives: the folder /sys/depot/a may not be written by this user; let it, or name another folder',
    )
    expect(madeFolderProblem('--archives', '/proc/depot/a')).toMatch(
      /^--archives: the folder \/proc\/depot\/a cannot be made: /,
    )
  })
})

it('a folder for temporary files belongs to this user alone', () => {
  const name = `depot-test-${process.pid}`
  const path = temporaryFolder('--spool-dir', name)
  onTestFinished(() => rmSync(path, { recursive: true }))
  expect(temporaryFolder('--spool-dir', name)).toBe(path)
  mkdirSync(join(path, 'listings'))
  chmodSync(path, 0o777)
  expect(() => temporaryFolder('--spool-dir', name)).toThrow(
    `--spool-dir: ${path} may be changed by other users; remove it, or name another folder`,
  )
})
