import { mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it, vi } from 'vitest'
import { contentsOf, watchContents } from './files.ts'

const folder = mkdtempSync(join(tmpdir(), 'depot-files-'))
afterAll(() => rmSync(folder, { recursive: true }))
const intervalMs = 5

it('reports each change once, even of a link, or of a file that disappears and returns', async () => {
  const [target, next, link] = ['a', 'b', 'link'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ]
  writeFileSync(target, 'one')
  writeFileSync(next, 'two')
  symlinkSync(target, link)
  const onChange = vi.fn<() => void>()
  const watching = watchContents([link], { known: contentsOf([link]), intervalMs, onChange })
  const changes = (count: number) =>
    vi.waitFor(() => expect(onChange).toHaveBeenCalledTimes(count), { interval: intervalMs })
  symlinkSync(next, `${link}.new`)
  renameSync(`${link}.new`, link)
  await changes(1)
  rmSync(next)
  await changes(2)
  writeFileSync(next, 'two')
  await changes(3)
  watching.stop()
})

it('sees a change that came between the first reading and the first look', async () => {
  const path = join(folder, 'early')
  writeFileSync(path, 'one')
  const known = contentsOf([path])
  writeFileSync(path, 'two')
  const onChange = vi.fn<() => void>()
  const watching = watchContents([path], { known, intervalMs, onChange })
  await vi.waitFor(() => expect(onChange).toHaveBeenCalledTimes(1), { interval: intervalMs })
  watching.stop()
})

it('repeats a change that could not be taken', async () => {
  const path = join(folder, 'failing')
  writeFileSync(path, 'one')
  const known = contentsOf([path])
  writeFileSync(path, 'two')
  const onChange = vi.fn<() => boolean>().mockReturnValueOnce(false).mockReturnValueOnce(false)
  const watching = watchContents([path], { known, intervalMs, onChange })
  await vi.waitFor(() => expect(onChange).toHaveBeenCalledTimes(3), { interval: intervalMs })
  await new Promise((done) => setTimeout(done, 5 * intervalMs))
  expect(onChange).toHaveBeenCalledTimes(3)
  watching.stop()
})

it('reads two files once both have changed', async () => {
  const paths = ['cert', 'key'].map((name) => join(folder, name))
  const write = (text: string) => {
    for (const path of paths) writeFileSync(path, text)
  }
  write('one')
  const seen: string[] = []
  const onChange = () => void seen.push(contentsOf(paths))
  const watching = watchContents(paths, { known: contentsOf(paths), intervalMs, onChange })
  write('two')
  await vi.waitFor(() => expect(seen).toEqual([contentsOf(paths)]))
  watching.stop()
})
