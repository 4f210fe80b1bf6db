import { readFileSync } from 'node:fs'
import { attempt } from '../../pkg/base/errors/errors.ts'
import { createPool, type ProxyRules, readBounded, type Trust } from '../../pkg/base/http/http.ts'
import type { DoctorCommandOptions } from '../../pkg/base/options/options.ts'
import { type Examination, failed, ok, type Verdict, warning } from './check.ts'

const timeoutMs = 10_000
const maxBytes = 1024 * 1024

interface Said {
  readonly status: number
  readonly text: string
  /** By how many seconds the clock of the other machine is ahead; undefined if it names no time. */
  readonly aheadSeconds: number | undefined
}

/** Asks one address once. */
export async function ask(
  url: string,
  options: {
    readonly proxies?: ProxyRules | undefined
    readonly proxyUrl?: string | undefined
    readonly trust?: Trust | undefined
    readonly headers?: Readonly<Record<string, string>>
  } = {},
): Promise<Said> {
  const { proxies, headers = {}, ...to } = options
  const deadlines = { connectMs: timeoutMs, headersMs: timeoutMs, idleMs: timeoutMs }
  const pool = createPool({ ...deadlines, proxies })
  try {
    const { origin, pathname, search } = new URL(url)
    const request = { method: 'GET', path: pathname + search, headers } as const
    const answer = await pool.send({ origin, ...to }, request)
    const date = Date.parse(answer.header('date') ?? '')
    // The header has whole seconds, and its server wrote it during the request.
    const ahead = Math.round((date - Date.now()) / 1000)
    return {
      status: answer.status,
      text: String(await readBounded(answer.body, maxBytes)),
      aheadSeconds: Number.isNaN(ahead) ? undefined : ahead,
    }
  } finally {
    await pool.close()
  }
}

/** Tokens may be dated up to 30 seconds ahead. Half of that is close to the limit. */
const toleratedSeconds = 30

/** Compares the clock of this machine with another one. */
export function clockFinding(of: string, aheadSeconds: number | undefined): Verdict {
  if (aheadSeconds === undefined) return ok(`${of} names no time`)
  const apart = Math.abs(aheadSeconds)
  const where = aheadSeconds > 0 ? 'behind' : 'ahead of'
  const told = `this machine is ${apart} s ${where} ${of}`
  const remedy = 'synchronise the clocks of both machines (NTP): tokens and signatures have times'
  if (apart > toleratedSeconds) return failed(told, remedy)
  return apart > toleratedSeconds / 2 ? warning(told, remedy) : ok(told)
}

/** Sends a running process the requests of its clients. */
export function runningChecks(
  options: DoctorCommandOptions & { readonly baseUrl?: string | undefined },
  proxies: ProxyRules,
): Examination[] {
  const { serverUrl, serverCaPath, adminUrl, baseUrl, uiUrl, uiBaseUrl } = options
  const alternativeName = baseUrl && new URL(baseUrl).hostname
  const checks: Examination[] = []
  if (serverUrl !== undefined) {
    checks.push({
      what: `server at ${serverUrl}`,
      remedy: 'see the log of the server, and whether a network policy or a proxy is in between',
      async run() {
        const trust = { ca: readCa(serverCaPath), alternativeName }
        return discovered(await ask(`${serverUrl}/.well-known/terraform.json`, { trust }))
      },
    })
  }
  if (adminUrl !== undefined) {
    checks.push({
      what: `readiness at ${adminUrl}`,
      remedy: 'see the log of that process',
      async run() {
        const { status, text } = await ask(`${adminUrl}/readyz`)
        const lines = text.trim().replaceAll('\n', '; ')
        if (status !== 200) return failed(lines, 'see the log of that process')
        return lines === 'ok' ? ok('it is ready') : warning(lines, 'see the log of that process')
      },
    })
  }
  if (baseUrl !== undefined) {
    const address = new URL(baseUrl).origin
    checks.push({
      what: `clients' address ${address}`,
      run: () =>
        fromOutside(
          async () => discovered(await ask(`${address}/.well-known/terraform.json`, { proxies })),
          `run curl ${address}/.well-known/terraform.json where Terraform runs`,
        ),
    })
  }
  if (uiUrl !== undefined) {
    checks.push({
      what: `explorer at ${uiUrl}`,
      remedy: explorerLog,
      run: () => explored(uiUrl),
    })
  }
  if (uiBaseUrl !== undefined) {
    checks.push({
      what: `browsers' address ${uiBaseUrl}`,
      run: () => fromOutside(() => explored(uiBaseUrl, proxies), `open ${uiBaseUrl} in a browser`),
    })
  }
  return checks
}

/** Checks an address that may be reachable or trusted only from the machines of clients. */
async function fromOutside(run: () => Promise<Verdict>, remedy: string): Promise<Verdict> {
  try {
    return await run()
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return failed(String(error), remedy)
    return warning(`not reachable or not trusted from here: ${String(error)}`, remedy)
  }
}

const explorerLog = 'see its log: kubectl logs deployment/depot-ui'

/** Asks an explorer for a page, and through it for an answer of the server. */
async function explored(url: string, proxies?: ProxyRules): Promise<Verdict> {
  const page = await ask(`${url}/access`, { proxies })
  if (!page.text.includes('<html')) {
    const told = `answered ${page.status} without a page: ${page.text.slice(0, 200)}`
    return failed(
      told,
      'make the Ingress or proxy forward / to the explorer (ui.ingress, ui.route)',
    )
  }
  const { status, text } = await ask(`${url}/.well-known/terraform.json`, { proxies })
  if (status === 200 && text.includes('"modules.v1"')) {
    return ok('it has its pages, and reaches the server')
  }
  return failed(
    `it has its pages, but does not reach the server: answered ${status}: ${text.slice(0, 200)}`,
    `correct --server-url of the explorer (ui.serverHost of the chart), and --server-ca-path for a private authority; ${explorerLog}`,
  )
}

function discovered({ status, text }: Said): Verdict {
  const remedy = 'make the Ingress or proxy forward /.well-known and /depot to this server'
  if (status !== 200) return failed(`answered ${status}: ${text.slice(0, 200)}`, remedy)
  return text.includes('"modules.v1"')
    ? ok('it names the registry')
    : failed(`names no module registry: ${text.slice(0, 200)}`, remedy)
}

/** A Secret without `ca.crt` gives no file. Then the authorities of the system are trusted. */
function readCa(path: string | undefined): Buffer | undefined {
  const text = path === undefined ? undefined : attempt(() => readFileSync(path))
  return text?.length === 0 ? undefined : text
}
