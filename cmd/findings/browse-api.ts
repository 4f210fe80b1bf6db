import { homedir } from 'node:os'
import * as z from 'zod'
import packageJson from '../../package.json' with { type: 'json' }
import { jsonOf, printable } from '../../pkg/base/errors/errors.ts'
import { type CompareCommandOptions, OptionsError } from '../../pkg/base/options/options.ts'
import { createLogger, createMetrics } from '../../pkg/base/telemetry/telemetry.ts'
import { Egress, explained, localNetworks } from '../../pkg/fill/egress/egress.ts'
import { readAuthorities } from '../../pkg/fill/fetching/fetching.ts'
import { loginRemedy, tokenFor } from '../compare/compare.ts'

const Discovery = z.object({ 'modules.v1': z.string() })
/** Later versions of Depot may write more than these fields. */
const Claims = z.object({
  claims: z.array(
    z.object({
      kind: z.string(),
      namespace: z.string(),
      name: z.string(),
      reason: z.string().optional(),
    }),
  ),
})
const Refusal = z.object({ errors: z.array(z.string()).min(1) })

/** The browse API of a registry, for commands. @throws OptionsError for options that cannot be used */
export async function openBrowseApi(
  { egressAllow, egressCaPath }: Pick<CompareCommandOptions, 'egressAllow' | 'egressCaPath'>,
  host: string,
) {
  const token = tokenFor(host, process.env, homedir())
  const ca = await readAuthorities(egressCaPath).catch((error: unknown) => {
    throw new OptionsError([`--egress-ca-path: ${explained(error)}`])
  })
  const egress = new Egress({
    policy: {
      hosts: [host, ...(egressAllow ?? [])],
      privateNetworks: localNetworks,
      publicDownloads: false,
    },
    environment: process.env,
    ca,
    log: createLogger('silent'),
    metrics: createMetrics({ version: packageJson.version }),
  })

  async function get<T>(url: URL, schema: z.ZodType<T>): Promise<T> {
    const isOwn = url.host === new URL(`https://${host}`).host
    const isSent = token !== undefined && isOwn
    const credential = isSent && { credential: { id: host, authorization: `Bearer ${token}` } }
    const signal = new AbortController().signal
    const answer = await egress
      .request(url.href, { ...credential, urgent: true, signal })
      .catch((error: unknown) => {
        throw new OptionsError([`${host}: ${explained(error)}`])
      })
    const body = jsonOf(answer.body.toString())
    if (answer.status !== 200) {
      const [said = `it answers ${answer.status}`] = Refusal.safeParse(body).data?.errors ?? []
      const isRefused = answer.status === 401 || answer.status === 403
      const remedy = isRefused ? `; ${loginRemedy(host, token !== undefined)}` : ''
      throw new OptionsError([`${host}: ${printable(said, 1024)}${remedy}`])
    }
    const { data } = schema.safeParse(body)
    if (data !== undefined) return data
    throw new OptionsError([
      `${host}: the answer of ${url.pathname} is not one of Depot: check the host, and that its Depot is not older than this one`,
    ])
  }

  const discovery = new URL(`https://${host}/.well-known/terraform.json`)
  const services = await get(discovery, Discovery).catch(async (error: unknown) => {
    await egress.close()
    throw error
  })
  // A registry may be below a path.
  const root = new URL('../../ui/v1', new URL(services['modules.v1'], discovery))

  async function ask<T>(path: string, schema: z.ZodType<T>): Promise<T> {
    return get(new URL(`${root.href}${path}`), schema)
  }
  return {
    ask,
    /** The path of the module or provider that has an address. */
    async objectAt(address: string): Promise<string> {
      const { claims } = await ask(`/explain?address=${address}`, Claims)
      const wanted = address.split('/').length === 2 ? 'provider' : 'module'
      const holder = claims.find(({ kind, reason }) => kind === wanted && reason === undefined)
      if (holder !== undefined) return `/resources/${holder.namespace}/${wanted}/${holder.name}`
      throw new OptionsError([
        `${host}: no ${wanted} has the address ${address}: a module has NAMESPACE/NAME/SYSTEM, a provider NAMESPACE/TYPE`,
      ])
    },
    [Symbol.asyncDispose]: () => egress.close(),
  }
}
