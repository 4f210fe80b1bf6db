import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { disableIgnoreComments } from './ignore-comments.ts'

/** The text of a file afterwards. */
async function after(content: string | Buffer): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'depot-ignore-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'modules/a/main.tf')
  mkdirSync(join(path, '..'), { recursive: true })
  writeFileSync(path, content)
  chmodSync(path, 0o400)
  await disableIgnoreComments(folder)
  expect(statSync(path).mode & 0o777).toBe(0o400)
  return readFileSync(path, 'latin1')
}

it.each([
  ['#trivy:ignore:AWS-0086', '#trivy:ignor_:AWS-0086'],
  [
    '  acl = "x" // tfsec:ignore:aws-s3-x:exp:2030-01-01 é',
    '  acl = "x" // tfsec:ignor_:aws-s3-x:exp:2030-01-01 Ã©',
  ],
  ['#trivy:ws:default:ignore:a:ignore:b', '#trivy:ws:default:ignor_:a:ignor_:b'],
  ['/*trivy:ignore:*\n\n', '/*trivy:ignor_:*\n\n'],
  ['#trivy:ignore[name=x]:A', '#trivy:ignore[name=x]:A'],
  ['# ignore:this trivy: ignore:x', '# ignore:this trivy: ignore:x'],
])('%j becomes %j', async (before, expected) => {
  expect(await after(before)).toBe(expected)
})

it('finds words that reach over two reads, and in one that is longer than a read', async () => {
  const word = '#trivy:ignore:AWS-0086'
  for (const length of [1_048_576 - 10, 1_048_576 - 1, 3_000_000]) {
    const padding = 'x'.repeat(length - 1)
    expect(await after(`${padding} ${word} y`)).toBe(
      `${padding} ${word.replace('ignore', 'ignor_')} y`,
    )
    expect(await after(`#trivy:${padding}:ignore:A`)).toBe(`#trivy:${padding}:ignor_:A`)
  }
})
