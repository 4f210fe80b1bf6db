import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'

const at = (file: string) => JSON.stringify(join(import.meta.dirname, file))

/** Tells of what its answer is made of, and collects all garbage once nobody waits for one. */
const program = `
import { collectGarbage } from ${at('../memory/memory.ts')}
import { createLogger, createMetrics } from ${at('../telemetry/telemetry.ts')}
import { serve } from ${at('serving.ts')}
const isFast = new Function('object', 'return %HasFastProperties(object)')
const { url } = await serve({
  fetch(_, { incoming, outgoing }) {
    if (incoming.url === '/collect') setTimeout(collectGarbage, 50)
    const [request, response, socket] = [incoming, outgoing, incoming.socket].map(isFast)
    return Response.json({ request, response, socket })
  },
  listen: { host: '127.0.0.1', port: 0 },
  adminListen: { host: '127.0.0.1', port: 0 },
  log: createLogger('silent'),
  metrics: createMetrics({ version: 'test' }),
  waitingFor: () => [],
})
console.log(url)
`

it.each([0, 3, 4, 5, 6])(
  'requests stay cheap where all garbage is collected after the first %i of them',
  async (before) => {
    const args = ['--allow-natives-syntax', '--input-type=module', '--eval', program]
    const server = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
    try {
      const [url] = (await once(server.stdout, 'data')) as [Buffer]
      const ask = async (path: string) => {
        const headers = { Connection: 'close' }
        const answer = await fetch(new URL(path, String(url)), { headers })
        return answer.json()
      }
      for (let count = 0; count < before; count += 1) await ask('/')
      for (let round = 0; round < 2; round += 1) {
        await ask('/collect')
        await sleep(150)
      }
      for (let count = 0; count < 20; count += 1) await ask('/')
      expect(await ask('/')).toEqual({ request: true, response: true, socket: true })
    } finally {
      server.kill()
    }
  },
)
