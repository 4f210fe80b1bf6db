import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Objects } from '../../records/store/store.ts'
import { ScanScene } from './scan.fixture.ts'
import { execScanner } from './scan.ts'

/* The database of a scanner is replaced, removed and put back. */

let scene: ScanScene
let database: string | undefined
beforeEach(async () => {
  scene = await ScanScene.open()
  database = 'first'
  await write(database)
})
afterEach(() => scene.close())

const path = (name: string) => join(scene.folder, name)
/** The scanner finds the name of its database. */
async function write(name: string): Promise<void> {
  database = name
  await writeFile(path('database'), name)
}

async function scanner(wait = '') {
  const text = `fs.readFileSync(${JSON.stringify(path('database'))}, 'utf8')`
  const command = await scene.scanner(
    `const end = () => print([{ vulnerabilityID: ${text}, severity: 'CRITICAL' }])\n${wait || 'end()'}`,
  )
  const identity = async () => ({ scanner: 'scanner 1', databases: { source: database } })
  return { ...execScanner(command), identity }
}

const found = async () => {
  const { sourceScan, scan } = await scene.status('network')
  return [sourceScan?.findings.map(({ vulnerabilityID }) => vulnerabilityID), scan?.database]
}
const later = () => {
  scene.aheadMs += 30 * 3_600_000
}

it('scans again with a database that replaced another one while a scan ran', async () => {
  const [began, go] = ['began', 'go'].map((name) => JSON.stringify(path(name)))
  const waiting = await scanner(
    `fs.writeFileSync(${began}, '')
     const waiting = setInterval(() => {
       if (!fs.existsSync(${go})) return
       clearInterval(waiting)
       end()
     }, 10)`,
  )
  await scene.store('network', [{ path: 'main.tf', content: '' }])
  const scans = await scene.begin({ scanner: waiting })
  await expect.poll(() => scene.text('began')).toBe('')
  await write('second')
  await writeFile(path('go'), '')
  await scans.idle()
  const options = { scanner: await scanner() }
  // Nobody knows with which of both it was made: it counts as one of the former.
  expect((await found())[1]).toBe('first')
  expect((await scene.run(options)).done).toBe(0)
  later()
  expect((await scene.run(options)).done).toBe(1)
  expect(await found()).toEqual([['second'], 'second'])
  later()
  expect((await scene.run(options)).done).toBe(0)
})

it('scans again with an earlier database that is put back', async () => {
  const options = { scanner: await scanner() }
  await scene.store('network', [{ path: 'main.tf', content: '' }])
  for (const name of ['first', 'second', 'first']) {
    await write(name)
    later()
    expect((await scene.run(options)).done).toBe(1)
    expect(await found()).toEqual([[name], name])
  }
})

it('writes no status again while the database is the same, whatever the clock says', async () => {
  const options = { scanner: await scanner() }
  await scene.store('network', [{ path: 'main.tf', content: '' }])
  await scene.run(options)
  const writtenAt = await scene.writtenAt('network')
  for (const days of [400, -400]) {
    scene.aheadMs = days * 24 * 3_600_000
    expect((await scene.run(options)).done).toBe(0)
  }
  expect(await scene.writtenAt('network')).toBe(writtenAt)
})

it('scans again after a scan whose time is in the future, because a clock was wrong', async () => {
  const options = { scanner: await scanner() }
  await scene.store('network', [{ path: 'main.tf', content: '' }])
  scene.aheadMs = 400 * 24 * 3_600_000
  await scene.run(options)
  scene.aheadMs = 0
  await write('second')
  expect((await scene.run(options)).done).toBe(1)
  expect(await found()).toEqual([['second'], 'second'])
})

it('spreads scans with a new database over a tenth of the interval before and after it', async () => {
  const options = { scanner: await scanner(), slots: 4 }
  const names = Array.from({ length: 20 }, (_, index) => `module-${index}`)
  for (const name of names) await scene.store(name, [{ path: 'main.tf', content: '' }])
  expect((await scene.run(options)).done).toBe(names.length)
  await write('second')
  const doneAfter = async (hours: number) => {
    scene.aheadMs = hours * 3_600_000
    return (await scene.run(options)).done
  }
  expect(await doneAfter(21)).toBe(0)
  const first = await doneAfter(24)
  expect(first).toBeGreaterThan(0)
  expect(first).toBeLessThan(names.length)
  expect(await doneAfter(27)).toBe(names.length - first)
})

it('scans again in the same process after its clock was wrong', async () => {
  const failing = await scene.scanner('process.exit(1)')
  const databases = {
    get source() {
      return database
    },
  }
  const identity = async () => ({ scanner: 'scanner 1', databases })
  await scene.store('network', [{ path: 'main.tf', content: '' }])
  scene.aheadMs = 400 * 24 * 3_600_000
  let objects: Objects | undefined
  const through = (opened: Objects) => (objects = opened)
  const scans = await scene.begin({ scanner: { ...execScanner(failing), identity }, through })
  /** The Version is looked at again, because its status changes. */
  const look = async (note: string) => {
    const object = objects?.get('Version', 'team', 'network')
    if (object === undefined) throw new Error('there is no Version')
    await objects?.writeStatus(object, { ...(object.status as object), syncStatus: note })
    await scans.idle()
  }
  await scans.idle()
  expect(scans.failures()).toHaveLength(1)
  await scanner()
  await look('with a wrong clock')
  expect(scans.done).toBe(0)
  scene.aheadMs = 0
  await look('after a failure')
  expect(scans.done).toBe(1)
  scene.aheadMs = 400 * 24 * 3_600_000
  await write('second')
  await look('with a wrong clock')
  expect(scans.done).toBe(2)
  scene.aheadMs = 0
  await write('third')
  await look('after a scan')
  expect(scans.done).toBe(3)
  expect(await found()).toEqual([['third'], 'third'])
})

describe('a database that another scanner of a cluster has in a newer version', () => {
  const [older, newer] = ['2026-11-25T06:00:00Z', '2026-11-26T06:00:00Z']
  const notFolder = (objects: Objects): Objects => ({ ...objects, isFolder: false })
  const scanning = async () => {
    const databases = {
      get source() {
        return database
      },
    }
    const identity = async () => ({ scanner: 'scanner 1', databases: { ...databases } })
    return { through: notFolder, scanner: { ...(await scanner()), identity } }
  }
  const runs = async (name: string) => {
    await write(name)
    later()
    return (await scene.run(await scanning())).done
  }

  it('does not replace what that one found', async () => {
    await scene.store('network', [{ path: 'main.tf', content: '' }])
    expect(await runs(older)).toBe(1)
    expect(await runs(newer)).toBe(1)
    const writtenAt = await scene.writtenAt('network')
    expect(await runs(older)).toBe(0)
    expect(await scene.writtenAt('network')).toBe(writtenAt)
    expect(await found()).toEqual([[newer], newer])
    expect(await runs('2026-11-27T06:00:00Z')).toBe(1)
  })

  it('does not replace it either if that one ends its scan first', async () => {
    await scene.store('network', [{ path: 'main.tf', content: '' }])
    expect(await runs(older)).toBe(1)
    await write(newer)
    const other = await scanning()
    await write('2026-11-25T12:00:00Z')
    let isFirst = true
    const through = (opened: Objects): Objects => ({
      ...notFolder(opened),
      async writeStatus(object, status, options) {
        if (isFirst) {
          isFirst = false
          const { scan } = await scene.status('network')
          if (scan === undefined) throw new Error('there is no scan')
          await opened.writeStatus(object, {
            ...(object.status as object),
            scan: { ...scan, database: newer },
          })
        }
        return opened.writeStatus(object, status, options)
      },
    })
    later()
    await scene.run({ ...other, through })
    expect([isFirst, (await found())[1]]).toEqual([false, newer])
  })

  it('replaces it if a person puts the older one back', async () => {
    await scene.store('network', [{ path: 'main.tf', content: '' }])
    vi.useFakeTimers({ toFake: ['setTimeout'], shouldAdvanceTime: true })
    await write(newer)
    const scans = await scene.begin(await scanning())
    await scans.idle()
    later()
    await write(older)
    await vi.advanceTimersByTimeAsync(60_000)
    vi.useRealTimers()
    await scans.idle()
    expect([scans.done, await found()]).toEqual([2, [[older], older]])
  })
})
