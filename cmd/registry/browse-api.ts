import * as z from 'zod'
import { jsonOf, printable } from '../../pkg/base/errors/errors.ts'
import {
  type CompareCommandOptions,
  mistakeIn,
  OptionsError,
} from '../../pkg/base/options/options.ts'
import { kindAt, openRegistry, type Registry, refusalOf } from './open-registry.ts'

/** Later versions of Depot may write more fields. */
export const Claims = z.object({
  claims: z.array(
    z.object({
      kind: z.string(),
      namespace: z.string(),
      name: z.string(),
      reason: z.string().optional(),
    }),
  ),
})

/** A registry that does not answer this question, or not for this caller. */
export class NotTold extends OptionsError {}

/** The browse API of a registry, for commands. @throws OptionsError for options that cannot be used */
export async function openBrowseApi(
  options: Pick<CompareCommandOptions, 'egressAllow' | 'egressCaPath'>,
  host: string,
) {
  const registry = await openRegistry(options, [host])
  return {
    ...browseApi(registry, host),
    [Symbol.asyncDispose]: () => registry[Symbol.asyncDispose](),
  }
}

export type BrowseApi = ReturnType<typeof browseApi>

export function browseApi(registry: Registry, host: string) {
  async function ask<T>(path: string, schema: z.ZodType<T>): Promise<T> {
    const asking = registry.ask(host, 'modules.v1', `../../ui/v1${path}`)
    const answer = await asking.catch(mistakeIn(host))
    const { status, body, url } = answer
    if (status !== 200) {
      const { text = `it answers ${status}`, remedy } = refusalOf(answer, registry.remedyFor(host))
      const problem = [`${host}: ${printable(text, 1024)}${remedy}`]
      throw status < 500 ? new NotTold(problem) : new OptionsError(problem)
    }
    const { data } = schema.safeParse(jsonOf(body.toString()))
    if (data !== undefined) return data
    throw new NotTold([
      `${host}: the answer of ${url.pathname} is not one of Depot: check the host, and that its Depot is not older than this one`,
    ])
  }
  return {
    ask,
    /** The path of the module or provider that has an address. */
    async objectAt(address: string): Promise<string> {
      const { claims } = await ask(`/explain?address=${address}`, Claims)
      const wanted = kindAt(address)
      const holder = claims.find(({ kind, reason }) => kind === wanted && reason === undefined)
      if (holder !== undefined) return `/resources/${holder.namespace}/${wanted}/${holder.name}`
      throw new NotTold([
        `${host}: no ${wanted} has the address ${address}: a module has NAMESPACE/NAME/SYSTEM, a provider NAMESPACE/TYPE`,
      ])
    },
  }
}
