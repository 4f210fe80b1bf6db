import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, it, onTestFinished } from 'vitest'
import { SendableBody } from './fast.ts'

/** Both ends of a new connection. */
async function connection(): Promise<{ readonly writer: Socket; readonly reader: Socket }> {
  const server = createServer({ pauseOnConnect: true }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address() as { port: number }
  const reader = connect(address.port, '127.0.0.1')
  const [writer] = (await once(server, 'connection')) as [Socket]
  onTestFinished(() => {
    reader.destroy()
    writer.destroy()
    server.close()
  })
  return { writer, reader }
}

/** More than the kernel buffers for a connection. */
const backlog = 'x'.repeat(12_000_000)

it.each([
  ['text', SendableBody.copyOf('the böd🚀')],
  ['text that is copied later', SendableBody.ofText('the böd🚀')],
  ['bytes', SendableBody.copyOf(Buffer.from('the böd🚀'))],
  ['shared bytes', SendableBody.sharing(new Uint8Array(Buffer.from('the böd🚀')))],
])('gives each connection the head that is its own, however late it reads: %s', async (_, body) => {
  const [late, prompt] = [await connection(), await connection()]
  late.writer.write(backlog)
  body.writeTo(late.writer, 'first, ')
  body.writeTo(prompt.writer, 'other, ')
  body.writeTo(late.writer, 'third, ')
  for (const { writer } of [late, prompt]) writer.end()
  expect(await text(prompt.reader)).toBe('other, the böd🚀')
  expect((await text(late.reader)).slice(backlog.length)).toBe('first, the böd🚀third, the böd🚀')
  const next = await connection()
  body.writeTo(next.writer, `${'long '.repeat(1000)}head, `)
  body.writeTo(next.writer, 'short head, ')
  next.writer.end()
  expect(await text(next.reader)).toMatch(/^(?:long ){1000}head, the böd🚀short head, the böd🚀$/)
})

it('sends a long text that is copied later', async () => {
  const { writer, reader } = await connection()
  const long = 'ö'.repeat(20_000)
  const body = SendableBody.ofText(long)
  body.writeTo(writer, 'first, ')
  body.writeTo(writer, 'second, ')
  writer.end()
  expect(await text(reader)).toBe(`first, ${long}second, ${long}`)
  expect([body.length, body.copied().length]).toEqual([40_000, 40_000])
})
