import { type Block, blocksOf, HclError, headerOrder, nested, withHclParser } from './blocks.ts'

interface Hosts {
  /** URLs of services, by host in lower case. */
  readonly services: ReadonlyMap<string, Readonly<Record<string, string>>>
  /** Tokens, by host in lower case. */
  readonly tokens: ReadonlyMap<string, string>
}

const parserCpuMs = 5000

/**
 * Reads the blocks `host` and `credentials` of a configuration file of the CLIs.
 *
 * @param name its name: files that end in .json have the JSON syntax
 * @throws Error that quotes nothing of the file, which can contain tokens
 */
export async function parseCliConfig(name: string, text: string): Promise<Hosts> {
  const parsed = /\b(host|credentials)\b/.test(text) ? await parse(name, text) : {}
  const order = headerOrder(text)
  const byHost = <T>(type: 'host' | 'credentials', read: (body: Block['body']) => T | undefined) =>
    new Map(
      blocksOf(parsed, type, order).flatMap(({ labels: [host = ''], body }) => {
        const found = read(body)
        return found === undefined ? [] : [[host.toLowerCase(), found] as const]
      }),
    )
  return {
    services: byHost('host', (body) => {
      const [services = {}] = nested(body['services'])
      return Object.fromEntries(
        Object.entries(services).filter(
          (entry): entry is [string, string] => typeof entry[1] === 'string',
        ),
      )
    }),
    tokens: byHost('credentials', ({ token }) => (typeof token === 'string' ? token : undefined)),
  }
}

async function parse(name: string, text: string): Promise<unknown> {
  const isJson = name.endsWith('.json')
  try {
    if (isJson) return JSON.parse(text)
    return await withHclParser(parserCpuMs, (parseFile) => parseFile('config.tf', text))
  } catch (error) {
    const at = error instanceof HclError && error.line !== undefined ? `line ${error.line} ` : 'it '
    throw new Error(`${at}is not valid ${isJson ? 'JSON' : 'HCL 2'}`, { cause: error })
  }
}
