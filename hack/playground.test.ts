import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { preparePlayground } from './playground.ts'

it('two servers of one folder share only the archives and the key', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'depot-playground-'))
  onTestFinished(() => rmSync(dir, { recursive: true }))
  const [one, other] = [await preparePlayground(dir, 8080), await preparePlayground(dir, 9000)]
  expect([other.archives, other.signingKey]).toEqual([one.archives, one.signingKey])
  const own = ({ statsPath, linesToType }: typeof one) => [statsPath, ...linesToType.slice(0, 2)]
  expect(own(one).filter((path) => own(other).includes(path))).toEqual([])

  // Other archives were served when this one was installed from.
  const lockFile = join(dir, 'example-9000/.terraform.lock.hcl')
  writeFileSync(lockFile, '')
  await preparePlayground(dir, 8080)
  expect(existsSync(lockFile)).toBe(true)
  rmSync(one.archives, { recursive: true })
  await preparePlayground(dir, 8080)
  expect(existsSync(lockFile)).toBe(false)
})
