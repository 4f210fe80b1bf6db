import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { createForwarding } from './forwarding.ts'

it('keeps webhooks of one Depot from holding up those of another', async () => {
  const held: ServerResponse[] = []
  const controller = createServer(({ url = '' }, outgoing) => {
    if (url.endsWith('/busy')) held.push(outgoing)
    else outgoing.end('{}')
  }).listen(0, '127.0.0.1')
  onTestFinished(() => void controller.close())
  await once(controller, 'listening')
  const { port } = controller.address() as AddressInfo
  const forwarding = createForwarding({
    url: `http://127.0.0.1:${port}`,
    trustProxy: false,
    catalog: { parentAt: () => undefined },
    hasCallers: true,
  })
  onTestFinished(() => forwarding.close())
  const send = async (path: string): Promise<number> => {
    const url = `/depot/hooks/github/team/${path}`
    const answer = await forwarding.routes.request(url, { method: 'POST', body: '{}' })
    await answer.text()
    return answer.status
  }
  const busy = Array.from({ length: 80 }, () => send('busy'))
  await expect.poll(() => held.length).toBe(4)
  expect(await send('quiet')).toBe(200)
  expect(held).toHaveLength(4)
  // Each that is answered makes way for one that waits.
  const answering = setInterval(() => {
    for (const outgoing of held.splice(0)) outgoing.end('{}')
  }, 5)
  onTestFinished(() => clearInterval(answering))
  expect(new Set(await Promise.all(busy))).toEqual(new Set([200]))
})
