import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { isDead, thisProcess } from './holder.ts'

const module = JSON.stringify(join(import.meta.dirname, 'holder.ts'))

/** Of a process of this machine, as its lock names it. */
const holder = (self: Awaited<ReturnType<typeof thisProcess>>) => ({
  ...self,
  program: 'depot test',
  startedAt: new Date().toISOString(),
  token: 'token',
})

it('knows that a process runs, and that one does not exist any more', async () => {
  const self = await thisProcess()
  expect(await isDead(holder(self), self)).not.toBe(true)
  const program = 'console.log(process.pid)'
  const pid = Number(execFileSync(process.execPath, ['-e', program], { encoding: 'utf8' }))
  expect(await isDead({ ...holder(self), pid }, self)).toBe(true)
})

it('does not take a process for dead that /proc says nothing of', async () => {
  const self = await thisProcess()
  // With no file descriptor left no file is read, as with hidepid.
  const program = `
    import { openSync } from 'node:fs'
    const { isDead, thisProcess } = await import(${module})
    const self = await thisProcess()
    let code = ''
    while (code === '') try { openSync('/dev/null') } catch (error) { code = error.code }
    process.stdout.write(code + ' ' + await isDead(${JSON.stringify(holder(self))}, self))`
  const command = 'ulimit -n 64 && exec "$0" --input-type=module -e "$1"'
  const output = execFileSync('sh', ['-c', command, process.execPath, program], {
    encoding: 'utf8',
  })
  expect(output).toBe('EMFILE undefined')
})
