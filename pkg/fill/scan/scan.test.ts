import { readdirSync } from 'node:fs'
import { chmod, chown, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { ScanPolicy } from '../../api/v1alpha1/v1alpha1.ts'
import { zipOf } from '../../archives/archive/packed.fixture.ts'
import { createLogger } from '../../base/telemetry/telemetry.ts'
import { type Objects, refOf } from '../../records/store/store.ts'
import { ScanScene } from './scan.fixture.ts'
import { execScanner } from './scan.ts'
import { emptyFolder } from './scan-archive.ts'
import { ScanError } from './scanner.ts'
import { findIsolation } from './scanner-process.ts'

let scene: ScanScene
beforeEach(async () => {
  scene = await ScanScene.open()
})
afterEach(() => scene.close())

const main = { path: 'main.tf', content: 'resource "aws_s3_bucket" "logs" {}\n' }
const finding = (vulnerabilityID: string, more: object = {}) => ({
  vulnerabilityID,
  pkgName: 'p',
  installedVersion: '1',
  severity: 'HIGH',
  title: 't',
  ...more,
})

describe('a scan', () => {
  it('gives the files of the archive to the scanner, and writes what it finds', async () => {
    await scene.scanner(
      `print([{ vulnerabilityID: target, pkgName: fs.readdirSync(folder).join(), severity: 'critical',
        title: fs.readFileSync(folder + '/main.tf', 'utf8') + (fs.statSync(folder + '/main.tf').mode & 0o777).toString(8) }])`,
    )
    const sha256 = await scene.store('network', [main, { path: 'modules/a/main.tf', content: '' }])
    expect((await scene.run()).done).toBe(1)
    const { sourceScan, binaryScan, scan } = await scene.status('network')
    expect(sourceScan?.findings).toEqual([
      {
        vulnerabilityID: 'source',
        pkgName: 'main.tf,modules',
        installedVersion: '',
        severity: 'CRITICAL',
        title: 'resource "aws_s3_bucket" "logs" {} 400',
      },
    ])
    expect(binaryScan).toBeUndefined()
    expect(scan).toMatchObject({ sha256, counts: { critical: 1, high: 0, unknown: 0 } })
    expect(await scene.scanned('network')).toMatchObject({
      status: 'True',
      reason: 'Scanned',
      message: expect.stringMatching(/^1 critical, by scanner of 20/),
    })
  })

  it('gives the executable of a provider, which may be executed, as a binary', async () => {
    await scene.scanner(
      `const [name] = fs.readdirSync(folder)
       print([{ vulnerabilityID: target, pkgName: name, title: (fs.statSync(folder + '/' + name).mode & 0o777).toString(8) }])`,
    )
    const path = 'terraform-provider-random_v1.0.0'
    await scene.store('random', [{ path, content: 'ELF' }], { type: 'Provider' })
    await scene.run()
    const { sourceScan, binaryScan } = await scene.status('random')
    expect(sourceScan).toBeUndefined()
    expect(binaryScan?.findings).toMatchObject([
      { vulnerabilityID: 'binary', pkgName: path, title: '500', severity: 'UNKNOWN' },
    ])
  })

  it('has an environment without programs and secrets, and a home of its own', async () => {
    process.env['DEPOT_TEST_SECRET'] = 'secret'
    await scene.scanner(
      `const { PATH, HOME, TMPDIR, ...rest } = process.env
       fs.writeFileSync(HOME + '/cache', '')
       print([{ vulnerabilityID: JSON.stringify(rest), pkgName: String(fs.existsSync(PATH)),
         title: String(HOME === TMPDIR && process.cwd() === HOME && (fs.statSync(HOME).mode & 0o777) === 0o700) }])`,
    )
    await scene.store('network', [main])
    await scene.run({ isOffline: false })
    delete process.env['DEPOT_TEST_SECRET']
    expect((await scene.status('network')).sourceScan?.findings).toMatchObject([
      { vulnerabilityID: '{"LC_ALL":"C.UTF-8"}', pkgName: 'false', title: 'true' },
    ])
    expect(readdirSync(scene.workDir)).toEqual([])
  })

  it('is clean only if it ended with an empty list', async () => {
    await scene.scanner('print([])')
    await scene.store('network', [main])
    await scene.run()
    const { sourceScan, scan } = await scene.status('network')
    expect(sourceScan?.findings).toEqual([])
    expect(scan?.counts.critical).toBe(0)
    expect((await scene.scanned('network')).message).toMatch(/^no findings, by /)
  })

  it('runs once for an archive in each interval, even if it finds the same again', async () => {
    await scene.scanner(
      `fs.appendFileSync(${JSON.stringify(join(scene.folder, 'runs'))}, 'x'); print([])`,
    )
    await scene.store('network', [main])
    await scene.run()
    const writtenAt = await scene.writtenAt('network')
    expect((await scene.run()).done).toBe(0)
    expect(await scene.text('runs')).toBe('x')
    expect(await scene.writtenAt('network')).toBe(writtenAt)
    // A scanner that does not name its database may have a new one.
    scene.aheadMs = 30 * 3_600_000
    expect((await scene.run()).done).toBe(1)
    expect((await scene.run()).done).toBe(0)
    expect(await scene.text('runs')).toBe('xx')
  })

  it('says since when there are CRITICAL findings: since the last new one', async () => {
    const critical = (id: string) => finding(id, { severity: 'CRITICAL' })
    const scan = async (...findings: object[]) => {
      scene.aheadMs += 30 * 3_600_000
      await scene.scanner(`print(${JSON.stringify(findings)})`)
      await scene.run()
      const { scan: summary, sourceScan } = await scene.status('network')
      return [summary?.criticalSince, sourceScan?.scannedAt]
    }
    await scene.store('network', [main])
    expect(await scan(finding('a'))).toEqual([undefined, expect.any(String)])
    const [first, firstAt] = await scan(critical('a'), critical('b'))
    expect(first).toBe(firstAt)
    expect((await scan(critical('b')))[0]).toBe(first)
    const [second, secondAt] = await scan(critical('c'), critical('b'))
    expect([second, second === first]).toEqual([secondAt, false])
    expect((await scan(finding('c')))[0]).toBeUndefined()
  })

  it('runs again for another archive, and for another scanner once the interval is over', async () => {
    await scene.scanner(`print([])`)
    await scene.store('network', [main])
    await scene.run()
    const sha256 = await scene.store('network', [main, { path: 'new.tf', content: '' }])
    expect((await scene.run()).done).toBe(1)
    expect((await scene.status('network')).scan?.sha256).toBe(sha256)
    await scene.scanner(`print([${JSON.stringify(finding('NEW-1'))}])`)
    expect((await scene.run()).done).toBe(0)
    scene.aheadMs = 30 * 3_600_000
    expect((await scene.run()).done).toBe(1)
    expect((await scene.status('network')).sourceScan?.findings).toHaveLength(1)
  })

  it('reads the digest from the archive if a manifest has none', async () => {
    await scene.scanner(`print([])`)
    await scene.store('network', [main])
    const moduleConfigRef = {
      name: 'network',
      provider: 'aws',
      storageConfig: { fileSystem: { directoryPath: 'stored' } },
    }
    await scene.write('network', {
      type: 'Module',
      version: '1.0.0',
      fileName: 'network.zip',
      moduleConfigRef,
    })
    expect((await scene.run()).done).toBe(1)
    expect((await scene.run()).done).toBe(0)
  })

  it('is repeated if its result could not be stored', async () => {
    await scene.scanner(`print([${JSON.stringify(finding('CVE-1'))}])`)
    await scene.store('network', [main])
    let isFirst = true
    const through = (objects: Objects): Objects => ({
      ...objects,
      async writeStatus(object, status, options) {
        if (isFirst) {
          isFirst = false
          await objects.patch(refOf(object), {
            spec: { ...(object.spec as object), acceptBreaking: true },
          })
        }
        return objects.writeStatus(object, status, options)
      },
    })
    const scans = await scene.begin({ through })
    await scans.idle()
    expect(isFirst).toBe(false)
    expect((await scene.status('network')).sourceScan?.findings).toHaveLength(1)
  })

  it('writes nothing into a Version that names another archive by now', async () => {
    await scene.store('network', [main])
    const manifest = join(scene.folder, 'manifests/network.json')
    const other = (await scene.text('manifests/network.json'))?.replace(
      /[0-9a-f]{64}/,
      'f'.repeat(64),
    )
    await scene.scanner(
      `fs.writeFileSync(${JSON.stringify(manifest)}, ${JSON.stringify(other)}); print([])`,
    )
    await scene.run()
    const { sourceScan, scan } = await scene.status('network')
    expect({ sourceScan, scan }).toEqual({})
    expect((await scene.scanned('network')).reason).toBe('ScanFailed')
  })
})

describe('a scan that fails', () => {
  const failing = async (script: string, options: Parameters<ScanScene['run']>[0] = {}) => {
    await scene.scanner(`print([${JSON.stringify(finding('KEPT-1'))}])`)
    await scene.store('network', [main])
    await scene.run()
    await scene.scanner(script)
    scene.aheadMs = 30 * 3_600_000
    const { done, failures } = await scene.run(options)
    expect(done).toBe(0)
    expect(failures()).toMatchObject([{ key: 'team/network' }])
    // What was known of this archive stays.
    expect((await scene.status('network')).sourceScan?.findings).toMatchObject([
      { vulnerabilityID: 'KEPT-1' },
    ])
    expect(readdirSync(scene.workDir)).toEqual([])
    return scene.scanned('network')
  }

  it.each([
    {
      what: 'ends with another status',
      script: `console.error('fatal: no database\\n\\u202e'); process.exit(3)`,
      message: 'scanner ended with status 3: fatal: no database',
    },
    {
      what: 'writes much before the cause',
      script: `console.error('x'.repeat(500) + ' no database'); process.exit(3)`,
      message: expect.stringMatching(/: x+ no database$/),
    },
    {
      what: 'writes nothing',
      script: '',
      message: 'scanner ended with status 0 and wrote nothing',
    },
    {
      what: 'writes something else',
      script: `process.stdout.write('total 0')`,
      message: 'scanner did not write a JSON list of findings',
    },
    {
      what: 'leaves out an id',
      script: `print([${JSON.stringify(finding('A'))}, { pkgName: 'p' }])`,
      message: expect.stringMatching(
        /^scanner did not write a JSON list of findings: 1\.vulnerabilityID: /,
      ),
    },
    {
      what: 'hides an id',
      script: `print([${JSON.stringify(finding('\u0000\u200b'))}])`,
      message:
        'scanner did not write a JSON list of findings: 0.vulnerabilityID: is empty or cannot be printed',
    },
    {
      what: 'is killed',
      script: `process.kill(process.pid, 'SIGKILL')`,
      // The first process of a namespace cannot kill itself.
      options: { isOffline: false },
      message: 'scanner was ended by SIGKILL; SIGKILL may mean too little memory',
    },
  ])('keeps earlier findings: a scanner that $what', async ({ script, options, message }) => {
    expect(await failing(script, options)).toEqual({
      status: 'False',
      reason: 'ScanFailed',
      message,
    })
  })

  it('ends a scanner that does not end', async () => {
    const { message } = await failing('setInterval(() => {}, 1000)', { deadlineMs: 1_000 })
    expect(message).toBe('scanner took longer than 1 s; --scan-deadline allows more')
  })

  it('ends a scanner that floods its output', async () => {
    const { message } = await failing(
      `const chunk = Buffer.alloc(1 << 20, 'x'); for (;;) fs.writeSync(1, chunk)`,
    )
    expect(message).toBe('scanner wrote more than 67108864 bytes')
  })

  it('says why an archive could not be read', async () => {
    await scene.scanner('print([])')
    const moduleConfigRef = { name: 'network', provider: 'aws' }
    const spec = { type: 'Module', version: '1.0.0', fileName: 'network.zip', moduleConfigRef }
    await scene.write('network', spec)
    await scene.run()
    expect(await scene.scanned('network')).toMatchObject({
      reason: 'ScanFailed',
      message: expect.stringMatching(/^storageConfig is missing: /),
    })
  })

  it('says once that the network of scanners is not isolated', async () => {
    await scene.scanner('print([])')
    const log = createLogger('silent')
    const warn = vi.spyOn(log, 'warn')
    await scene.run({ log })
    const said = expect.stringContaining('scanners share the network of this process')
    expect(warn.mock.calls).toEqual(findIsolation() === undefined ? [[said]] : [])
  })

  it('says that the scanner is missing, and calls nothing clean', async () => {
    await scene.store('network', [main])
    const { done, failures } = await scene.run()
    expect({ done, failures: failures().length }).toEqual({ done: 0, failures: 1 })
    expect(await scene.scanned('network')).toMatchObject({
      status: 'Unknown',
      reason: 'ScannerAbsent',
      message: expect.stringMatching(
        /is missing \(ENOENT\): install it, or correct --scanner-command$/,
      ),
    })
    expect((await scene.status('network')).sourceScan).toBeUndefined()
  })

  it('keeps the findings of the same archive where its manifest has no digest', async () => {
    await scene.scanner(`print([${JSON.stringify(finding('KEPT-1'))}])`)
    await scene.store('network', [main])
    const moduleConfigRef = {
      name: 'network',
      provider: 'aws',
      storageConfig: { fileSystem: { directoryPath: 'stored' } },
    }
    const spec = { type: 'Module', version: '1.0.0', fileName: 'network.zip', moduleConfigRef }
    await scene.write('network', spec)
    await scene.run()
    await scene.scanner(`process.exit(1)`)
    scene.aheadMs = 30 * 3_600_000
    await scene.run()
    expect(await scene.scanned('network')).toMatchObject({ reason: 'ScanFailed' })
    expect((await scene.status('network')).sourceScan?.findings).toHaveLength(1)
  })

  it('drops the findings of another archive', async () => {
    await scene.scanner(`print([])`)
    await scene.store('network', [main])
    await scene.run()
    await scene.scanner(`process.exit(1)`)
    await scene.store('network', [main, { path: 'new.tf', content: '' }])
    await scene.run()
    expect((await scene.status('network')).sourceScan).toBeUndefined()
    expect(await scene.scanned('network')).toMatchObject({ status: 'False' })
  })

  it('names an archive with another digest without telling that digest', async () => {
    await scene.scanner(`print([])`)
    await scene.store('network', [main])
    await writeFile(
      join(scene.folder, 'archives/stored/network/network.zip'),
      await zipOf([{ path: 'other.tf', content: '' }]),
    )
    await scene.run()
    expect((await scene.scanned('network')).message).toBe(
      'storage has no archive network.zip with the digest of this Version',
    )
  })

  it('is not tried again because its own failure was written', async () => {
    const runs = JSON.stringify(join(scene.folder, 'runs'))
    await scene.scanner(`fs.appendFileSync(${runs}, 'x'); process.exit(1)`)
    await scene.store('network', [main])
    await scene.run()
    expect(await scene.text('runs')).toBe('x')
  })

  it('leaves the last findings as they were if it is stopped', async () => {
    await scene.scanner(`print([${JSON.stringify(finding('KEPT-1'))}])`)
    await scene.store('network', [main])
    await scene.run()
    const writtenAt = await scene.writtenAt('network')
    const began = JSON.stringify(join(scene.folder, 'began'))
    await scene.scanner(`fs.writeFileSync(${began}, ''); setInterval(() => {}, 1000)`)
    scene.aheadMs = 30 * 3_600_000
    await scene.begin()
    await expect.poll(() => scene.text('began')).toBe('')
    await scene.stop()
    expect(await scene.writtenAt('network')).toBe(writtenAt)
  })
})

describe('a hostile scanner', () => {
  it('cannot leave files outside of its folders', async () => {
    await scene.scanner(
      `fs.writeFileSync(folder + '/../../evil', ''); fs.mkdirSync(folder + '/../../dir/sub', { recursive: true }); print([])`,
    )
    await scene.store('network', [main])
    expect((await scene.run()).done).toBe(1)
    expect(readdirSync(scene.workDir)).toEqual([])
  })

  it('cannot leave folders that their owner may not change', async () => {
    const outer = await mkdtemp(join(tmpdir(), 'depot-closed-'))
    const inner = join(outer, 'left/inner')
    await mkdir(inner, { recursive: true })
    await writeFile(join(inner, 'file'), '')
    // Root may change everything.
    const nobody = process.geteuid?.() === 0 ? 65534 : undefined
    if (nobody !== undefined) {
      for (const path of [outer, dirname(inner), inner]) await chown(path, nobody, nobody)
    }
    for (const path of [inner, dirname(inner)]) await chmod(path, 0o555)
    if (nobody !== undefined) process.seteuid?.(nobody)
    const problems = await emptyFolder(outer).finally(() => {
      if (nobody !== undefined) process.seteuid?.(0)
    })
    const left = readdirSync(outer)
    await rm(outer, { recursive: true })
    expect({ problems, left }).toEqual({ problems: [], left: [] })
  })

  it('cannot leave processes behind, not even outside of its process group', async () => {
    const pids = join(scene.folder, 'pids')
    const sleep = `const fs = require('node:fs'); fs.appendFileSync(${JSON.stringify(pids)}, fs.readlinkSync('/proc/self') + '\\n'); setInterval(() => {}, 1000)`
    await scene.scanner(
      `for (const detached of [false, true]) spawn(process.execPath, ['-e', ${JSON.stringify(sleep)}], { detached, stdio: 'inherit' })
       const waiting = setInterval(() => {
         const pids = fs.existsSync(${JSON.stringify(pids)}) ? fs.readFileSync(${JSON.stringify(pids)}, 'utf8') : ''
         if (pids.split('\\n').length < 3) return
         print([])
         process.exit()
       }, 20)`,
    )
    await scene.store('network', [main])
    expect((await scene.run()).done).toBe(1)
    const started = (await scene.text('pids'))?.trim().split('\n') ?? []
    expect(started).toHaveLength(2)
    for (const pid of started) await expect.poll(() => isRunning(Number(pid))).toBe(false)
  })

  it('cannot make a status that an API server refuses', async () => {
    await scene.scanner(
      `print(Array.from({ length: 100_000 }, (_, i) => ({ vulnerabilityID: 'CVE-' + i, pkgName: 'p'.repeat(200), installedVersion: '1',
         severity: i < 3 ? 'Critical' : i < 10 ? 'negligible' : 'weird', title: 'x\\u0000\\u202e\\n'.repeat(20) })))`,
    )
    await scene.store('network', [main])
    await scene.run()
    const { sourceScan, scan } = await scene.status('network')
    expect(scan).toMatchObject({
      truncated: true,
      counts: { critical: 3, high: 0, medium: 0, low: 7, unknown: 99_990 },
    })
    expect(Buffer.byteLength(JSON.stringify(sourceScan?.findings))).toBeLessThan(513 * 1024)
    expect(sourceScan?.findings.slice(0, 4).map(({ severity }) => severity)).toEqual([
      'CRITICAL',
      'CRITICAL',
      'CRITICAL',
      'LOW',
    ])
    expect(sourceScan?.findings[0]?.title).toMatch(/^(x ?)+$/)
  })

  it('cannot count one finding twice', async () => {
    const twice = [
      finding('A', { severity: 'LOW' }),
      finding('B'),
      finding('A\u200b', { severity: 'CRITICAL' }),
    ]
    await scene.scanner(`print(${JSON.stringify(twice)})`)
    await scene.store('network', [main])
    await scene.run()
    const { sourceScan, scan } = await scene.status('network')
    expect(sourceScan?.findings).toMatchObject([
      { vulnerabilityID: 'A', severity: 'CRITICAL' },
      { vulnerabilityID: 'B', severity: 'HIGH' },
    ])
    expect(scan?.counts).toMatchObject({ critical: 1, high: 1, low: 0 })
  })
})

describe('a scan policy', () => {
  const critical = [
    finding('CVE-1', { severity: 'CRITICAL' }),
    finding('CVE-2', { severity: 'CRITICAL', pkgName: 'q' }),
    finding('CVE-3'),
  ]
  const store = (scanPolicy?: ScanPolicy) =>
    scene.store('network', [main], { type: 'Module', ...(scanPolicy && { scanPolicy }) })
  const quarantine = async () => (await scene.status('network')).quarantinedBy
  const until = (days: number) =>
    new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10)

  it('quarantines a version with findings of its severity, and releases it when it blocks less', async () => {
    await scene.scanner(`print(${JSON.stringify(critical)})`)
    await store({ block: 'CRITICAL' })
    await scene.run()
    expect(await quarantine()).toEqual([
      {
        by: 'ScanPolicy',
        message:
          'scans found CRITICAL: CVE-1, CVE-2; use another version, or ask for an entry in scanPolicy.ignore',
        since: expect.any(String),
      },
    ])
    await store({ block: 'HIGH' })
    await scene.run()
    expect((await quarantine())?.[0]?.message).toContain('CRITICAL or HIGH: CVE-1, CVE-2, CVE-3;')
    await store()
    await scene.run()
    expect(await quarantine()).toBeUndefined()
  })

  it('releases a provider when providers are no longer scanned', async () => {
    await scene.scanner(`console.error('no database'); process.exit(1)`)
    await scene.store('random', [main], { type: 'Provider', scanPolicy: { block: 'CRITICAL' } })
    await scene.run()
    expect((await scene.status('random')).quarantinedBy).toHaveLength(1)
    await scene.run({ scansProviders: false })
    expect((await scene.status('random')).quarantinedBy).toBeUndefined()
  })

  it('accepts findings until a day, and quarantines the version on the next one', async () => {
    await scene.scanner(`print(${JSON.stringify(critical)})`)
    const ignore = ['CVE-1', 'CVE-2'].map((id) => ({
      id,
      reason: 'not reachable',
      until: until(3),
    }))
    await store({ block: 'CRITICAL', ignore })
    await scene.run()
    expect(await quarantine()).toBeUndefined()
    expect((await scene.status('network')).sourceScan?.findings).toHaveLength(3)
    scene.aheadMs = 4 * 86_400_000
    await scene.run({ rescanMs: 30 * 86_400_000 })
    expect((await quarantine())?.[0]?.message).toBe(
      `scans found CRITICAL: CVE-1, CVE-2; CVE-1 was accepted until ${until(3)}; CVE-2 was accepted until ${until(3)}; use another version, or ask for an entry in scanPolicy.ignore`,
    )
  })

  it('quarantines a version again when an entry of ignore is removed', async () => {
    await scene.scanner(`print([${JSON.stringify(finding('CVE-1', { severity: 'CRITICAL' }))}])`)
    const entry = { id: 'CVE-1', reason: 'not reachable', until: until(3) }
    const isBlocked: boolean[] = []
    for (const ignore of [[entry], [], [entry]]) {
      await store({ block: 'CRITICAL', ignore })
      await scene.run()
      isBlocked.push((await quarantine()) !== undefined)
    }
    expect(isBlocked).toEqual([false, true, false])
  })

  it('says which entry of ignore spells the id of a finding in another way', async () => {
    await scene.scanner(
      `print([${JSON.stringify(finding('CVE-2026-1001', { severity: 'CRITICAL' }))}])`,
    )
    const ignore = ['CVE-2026-I0O1 ', 'CVE-2026-9999'].map((id) => ({
      id,
      reason: 'not reachable',
      until: until(3),
    }))
    await store({ block: 'CRITICAL', ignore })
    await scene.run()
    expect((await quarantine())?.[0]?.message).toBe(
      'scans found CRITICAL: CVE-2026-1001; scanPolicy.ignore spells CVE-2026-1001 as "CVE-2026-I0O1 "; use another version, or ask for an entry in scanPolicy.ignore',
    )
  })

  it('holds a version that no scan could look at, unless it may be served', async () => {
    await scene.scanner(`console.error('no database'); process.exit(1)`)
    await store({ block: 'CRITICAL' })
    await scene.run()
    expect((await quarantine())?.[0]?.message).toBe(
      'it was not scanned yet (scanner ended with status 1: no database); it is served after a scan, or with scanPolicy.onMissing: Serve',
    )
    await store({ block: 'CRITICAL', onMissing: 'Serve' })
    await scene.run()
    expect(await quarantine()).toBeUndefined()
    await store({ block: 'CRITICAL' })
    const reading = execScanner(await scene.scanner('print([])'))
    const recognisesNothing = (): never => {
      throw new ScanError('NothingRecognised', 'it recognised no packages')
    }
    await scene.run({ scanner: { ...reading, findingsIn: recognisesNothing } })
    expect((await quarantine())?.[0]?.message).toBe(
      'no scan could examine it (it recognised no packages); to serve it, set scanPolicy.onMissing: Serve',
    )
    scene.aheadMs = 30 * 3_600_000
    await scene.scanner('print([])')
    await scene.run()
    expect(await quarantine()).toBeUndefined()
  })

  it('is read again if a config changes, for the versions that may have it', async () => {
    await scene.scanner('print([])')
    await store()
    const moduleConfig = { name: 'network', provider: 'aws' }
    await scene.write('network-aws', { moduleConfig, versions: [] }, 'Module')
    const path = join(scene.folder, 'manifests/Module-network-aws.json')
    const text = await readFile(path, 'utf8')
    await writeFile(join(scene.folder, 'manifests/other.json'), text.replace('"team"', '"other"'))
    let objects: Objects | undefined
    let looks = 0
    const scans = await scene.begin({
      through: (opened) => {
        objects = opened
        const get: Objects['get'] = (kind, namespace, name) => {
          looks += Number(kind === 'Version')
          return opened.get(kind, namespace, name)
        }
        return { ...opened, get }
      },
    })
    await scans.idle()
    const looksAfter = async (namespace: string) => {
      looks = 0
      const ref = { kind: 'Module', namespace, name: 'network-aws' } as const
      const scanPolicy = { block: 'CRITICAL' }
      await objects?.patch(ref, { spec: { moduleConfig: { ...moduleConfig, scanPolicy } } })
      await scans.idle()
      return looks
    }
    expect(await looksAfter('other')).toBe(0)
    expect(await looksAfter('team')).toBeGreaterThan(0)
  })

  it('leaves entries of other policies as they are', async () => {
    await scene.scanner(`print(${JSON.stringify(critical)})`)
    const other = { by: 'UpstreamPolicy', message: 'denied', since: '2026-11-01T00:00:00Z' }
    await store({ block: 'CRITICAL' })
    const spec = JSON.parse((await scene.text('manifests/network.json')) ?? '')
    await writeFile(
      join(scene.folder, 'manifests/network.json'),
      JSON.stringify({ ...spec, status: { quarantinedBy: [other] } }),
    )
    await scene.run()
    expect(await quarantine()).toMatchObject([other, { by: 'ScanPolicy' }])
    await store()
    await scene.run()
    expect(await quarantine()).toEqual([other])
  })

  it('is that of the module under which the version is served', async () => {
    await scene.scanner(`print(${JSON.stringify(critical)})`)
    // Whoever may only publish versions cannot lift the policy.
    await store({})
    const moduleConfig = { name: 'network', provider: 'aws', scanPolicy: { block: 'CRITICAL' } }
    await scene.write('network-aws', { moduleConfig, versions: [] }, 'Module')
    const other = { name: 'network', provider: 'google' }
    await scene.write('network', { moduleConfig: other, versions: [] }, 'Module')
    await scene.run()
    expect(await quarantine()).toMatchObject([{ by: 'ScanPolicy' }])
  })

  it('cannot block less than that of the installation', async () => {
    await scene.scanner(`print([${JSON.stringify(finding('CVE-3'))}])`)
    const defaultPolicy = { block: 'HIGH', onMissing: 'Serve' } as const
    await store({ block: 'CRITICAL' })
    await scene.run({ defaultPolicy })
    expect((await quarantine())?.[0]?.message).toContain('CRITICAL or HIGH: CVE-3;')
    await scene.scanner('process.exit(1)')
    await scene.store('network', [{ path: 'new.tf', content: '' }], {
      type: 'Module',
      scanPolicy: { onMissing: 'Hold' },
    })
    await scene.run({ defaultPolicy })
    expect((await quarantine())?.[0]?.message).toMatch(/^it was not scanned yet/)
  })

  it('may come from the scanner, for versions without one of their own', async () => {
    await scene.scanner(`print(${JSON.stringify(critical)})`)
    await store()
    const defaultPolicy = { block: 'CRITICAL', onMissing: 'Serve' } as const
    await scene.run({ defaultPolicy })
    expect(await quarantine()).toHaveLength(1)
    const ignore = [
      { id: 'CVE-1', reason: 'r', until: until(3) },
      { id: 'CVE-2', reason: 'r', until: until(3) },
    ]
    await store({ ignore })
    await scene.run({ defaultPolicy })
    expect(await quarantine()).toBeUndefined()
  })
})

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
