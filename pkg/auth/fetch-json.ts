import { type Dispatcher, request } from 'undici'

const maxBodyBytes = 1024 * 1024

/**
 * Asks for a JSON document. Redirects are not followed: the operator said whom to ask.
 *
 * @param timeoutMs for everything, from the connection to the last byte
 * @throws Error that says what went wrong, without the content
 */
export async function fetchJson(
  url: string,
  options: {
    readonly dispatcher?: Dispatcher
    readonly timeoutMs: number
    readonly headers?: Readonly<Record<string, string>>
  },
): Promise<unknown> {
  const { dispatcher, timeoutMs, headers } = options
  const response = await request(url, {
    headers: { accept: 'application/json', 'user-agent': 'depot', ...headers },
    signal: AbortSignal.timeout(timeoutMs),
    ...(dispatcher && { dispatcher }),
  })
  try {
    if (response.statusCode !== 200) throw new Error(`${url} answered ${response.statusCode}`)
    const chunks: Buffer[] = []
    let bytes = 0
    for await (const chunk of response.body) {
      bytes += (chunk as Buffer).length
      if (bytes > maxBodyBytes) throw new Error(`${url} answered more than ${maxBodyBytes} bytes`)
      chunks.push(chunk as Buffer)
    }
    const text = Buffer.concat(chunks).toString()
    try {
      return JSON.parse(text)
    } catch {
      throw new Error(`${url} did not answer JSON`)
    }
  } finally {
    response.body.on('error', () => undefined).destroy()
  }
}
