import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { proxyRules } from '../../../base/http/http.ts'
import { createRole } from './s3-role.ts'

/** Starts a server for one test. @returns its URL */
async function started(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Answers like the agent of EKS Pod Identity: without a `Code`. */
const answer = (expiresInMs: number) => ({
  AccessKeyId: 'AKIA',
  SecretAccessKey: 'secret',
  Token: 'session',
  AccountId: '123456789012',
  Expiration: new Date(Date.now() + expiresInMs).toISOString(),
})

describe('EKS Pod Identity', () => {
  let dir: string
  let asked: (string | undefined)[]
  let body: object
  let respond: (response: ServerResponse) => void
  let env: Record<string, string>

  beforeEach(async () => {
    dir = mkdtempSync(join(tmpdir(), 'depot-role-'))
    asked = []
    body = answer(3_600_000)
    respond = (response) => response.end(JSON.stringify(body))
    const agent = createServer((request, response) => {
      asked.push(request.headers.authorization)
      respond(response)
    })
    writeFileSync(join(dir, 'token'), 'first\n')
    env = {
      AWS_CONTAINER_CREDENTIALS_FULL_URI: `${await started(agent)}/v1/credentials`,
      AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: join(dir, 'token'),
    }
  })
  afterEach(() => rmSync(dir, { recursive: true }))

  it('gives credentials for the token in its file, once for all requests', async () => {
    const role = createRole(env)
    const all = await Promise.all([role(), role()])
    expect(all.map((one) => [one.accessKeyId, one.secretAccessKey, one.sessionToken])).toEqual([
      ['AKIA', 'secret', 'session'],
      ['AKIA', 'secret', 'session'],
    ])
    await role()
    expect(asked).toEqual(['first'])
  })

  it.each([
    ['five minutes before they expire', 3_600_000, 300_000],
    ['in the last quarter of a short life', 240_000, 60_000],
  ])('is asked again %s, with the current token', async (_, lifeMs, marginMs) => {
    let nowMs = Date.now()
    body = { ...answer(0), Expiration: new Date(nowMs + lifeMs).toISOString() }
    const role = createRole(env, { clock: () => nowMs })
    await role()
    writeFileSync(join(dir, 'token'), 'second')
    nowMs += lifeMs - marginMs - 1000
    for (let requests = 0; requests < 50; requests += 1) await role()
    expect(asked).toEqual(['first'])
    nowMs += 2000
    await role()
    await expect.poll(() => asked).toEqual(['first', 'second'])
  })

  it('delays no request if it hangs while the keys are valid', async () => {
    let nowMs = Date.now()
    body = { ...answer(0), Expiration: new Date(nowMs + 3_600_000).toISOString() }
    const role = createRole(env, { deadlineMs: 600_000, clock: () => nowMs })
    const keys = await role()
    respond = () => undefined
    nowMs += 3_400_000
    for (let requests = 0; requests < 50; requests += 1) {
      expect(await role()).toBe(keys)
    }
    await expect.poll(() => asked).toHaveLength(2)
  })

  it('is asked again before the keys expire if it returned the same keys', async () => {
    let nowMs = Date.now()
    const expiresMs = nowMs + 3_600_000
    body = { ...answer(0), Expiration: new Date(expiresMs).toISOString() }
    const role = createRole(env, { clock: () => nowMs })
    await role()
    nowMs = expiresMs - 299_000
    const later = async () => {
      // The clock stays before the end of the keys, however often it is read.
      nowMs += (expiresMs - nowMs) / 20
      await role()
      return asked.length
    }
    await expect.poll(later).toBeGreaterThan(2)
    expect(expiresMs - nowMs).toBeGreaterThan(0)
  })

  it('keeps the previous keys until they expire if it fails, and is asked again', async () => {
    let nowMs = Date.now()
    const expiresMs = nowMs + 3_600_000
    body = { ...answer(0), Expiration: new Date(expiresMs).toISOString() }
    const role = createRole(env, { clock: () => nowMs })
    await role()
    respond = (response) => response.writeHead(500).end()

    nowMs = expiresMs - 240_000
    const all = await Promise.all(Array.from({ length: 50 }, () => role()))
    expect(all.every(({ accessKeyId }) => accessKeyId === 'AKIA')).toBe(true)
    await expect.poll(() => asked).toHaveLength(2)
    const later = async () => {
      nowMs += 5001
      expect(await role()).toMatchObject({ accessKeyId: 'AKIA' })
      return asked.length
    }
    await expect.poll(later).toBeGreaterThan(3)
    nowMs = expiresMs
    await expect(role()).rejects.toThrow('answered 500')
    respond = (response) => response.end(JSON.stringify({ ...body, Token: 'new' }))
    expect(await role()).toMatchObject({ sessionToken: 'new' })
  })

  it.each([
    ['no credentials', {}, 'gave no credentials'],
    ['another answer', { ...answer(1000), Token: 7 }, 'gave no credentials'],
  ])('is reported if it gives %s', async (_, given, message) => {
    body = given
    await expect(createRole(env)()).rejects.toThrow(message)
  })

  it('is read only up to 64 kB if its answer has no end', async () => {
    let sentBytes = 0
    const piece = Buffer.alloc(16 * 1024, ' ')
    const ended = Promise.withResolvers<void>()
    respond = (response) => {
      const send = () => {
        if (response.destroyed) return
        sentBytes += piece.length
        response.write(piece, send)
      }
      response.once('close', ended.resolve)
      send()
    }
    await expect(createRole(env)()).rejects.toMatchObject({
      name: 'Error',
      message: `${env['AWS_CONTAINER_CREDENTIALS_FULL_URI']} gave no credentials of a role: the body is larger than 65536 bytes`,
    })
    await ended.promise
    // The system's buffers of a connection are additional.
    expect(sentBytes).toBeLessThan(64 * 1024 * 1024)
  })

  it.each<[string, (response: ServerResponse) => unknown]>([
    ['does not answer', () => undefined],
    ['stops within its answer', (response) => response.write('{')],
    [
      'brings its answer byte by byte',
      (response) => {
        const drip = setInterval(() => response.write(' '), 10)
        response.once('close', () => clearInterval(drip))
      },
    ],
  ])('is aborted if it %s', async (_, behaviour) => {
    respond = behaviour
    await expect(createRole(env, { deadlineMs: 300 })()).rejects.toThrow(
      `${env['AWS_CONTAINER_CREDENTIALS_FULL_URI']} gave no credentials of a role: no answer within 300 ms`,
    )
  })

  it.each<[string, (response: ServerResponse) => unknown]>([
    ['before the answer', (response) => response.destroy()],
    [
      'within the answer',
      (response) => {
        response.writeHead(200, { 'Content-Length': 1000 })
        response.write('{"AccessKeyId":"AK', () => response.destroy())
      },
    ],
  ])('is reported if its connection fails %s, and asked again the next time', async (_, cut) => {
    respond = cut
    const role = createRole(env)
    const failure = role()
    await expect(failure).rejects.toThrow(
      `${env['AWS_CONTAINER_CREDENTIALS_FULL_URI']} gave no credentials of a role: `,
    )
    await expect(failure).rejects.not.toThrow('AK')
    respond = (response) => response.end(JSON.stringify(body))
    expect(await role()).toMatchObject({ accessKeyId: 'AKIA' })
  })

  it('is reported without its answer if that cannot be parsed', async () => {
    respond = (response) => response.end('SECRET')
    const failure = createRole(env)()
    await expect(failure).rejects.toThrow('gave no credentials of a role')
    await expect(failure).rejects.not.toThrow('SECRET')
  })

  it('is reported with its status, but without its message, if it refuses', async () => {
    respond = (response) => response.writeHead(403).end('secret')
    await expect(createRole(env)()).rejects.toThrow(
      `${env['AWS_CONTAINER_CREDENTIALS_FULL_URI']} answered 403 when asked for the credentials of a role`,
    )
  })

  it('is not asked without encryption at a remote address', async () => {
    env['AWS_CONTAINER_CREDENTIALS_FULL_URI'] = 'http://example.com/credentials'
    await expect(createRole(env)()).rejects.toThrow('must be https')
  })
})

describe('web identity', () => {
  let dir: string
  let asked: URLSearchParams[]
  let expiresMs: number
  let refuse: ((response: ServerResponse) => void) | undefined
  let env: Record<string, string>

  beforeEach(async () => {
    dir = mkdtempSync(join(tmpdir(), 'depot-role-'))
    writeFileSync(join(dir, 'token'), 'first\n')
    asked = []
    refuse = undefined
    const give = async (request: IncomingMessage, response: ServerResponse) => {
      asked.push(new URLSearchParams(await text(request)))
      if (refuse !== undefined) refuse(response)
      else response.end(stsAnswer(new Date(expiresMs).toISOString()))
    }
    env = {
      AWS_ENDPOINT_URL_STS: await started(
        createServer((request, response) => void give(request, response)),
      ),
      AWS_ROLE_ARN: 'arn:aws:iam::123456789012:role/depot',
      AWS_WEB_IDENTITY_TOKEN_FILE: join(dir, 'token'),
    }
  })
  afterEach(() => rmSync(dir, { recursive: true }))

  it('gives keys for the token of the cluster, renewed in the background while they are valid', async () => {
    let nowMs = Date.now()
    expiresMs = nowMs + 3_600_000
    const role = createRole(env, { clock: () => nowMs })
    expect(await role()).toMatchObject({
      accessKeyId: 'ASIA',
      secretAccessKey: 'a/b+c=',
      sessionToken: 'session&more',
    })
    expect(Object.fromEntries(asked[0] ?? [])).toMatchObject({
      Action: 'AssumeRoleWithWebIdentity',
      RoleArn: env['AWS_ROLE_ARN'],
      WebIdentityToken: 'first',
    })
    writeFileSync(join(dir, 'token'), 'second')
    refuse = (response) => response.writeHead(503).end()
    nowMs = expiresMs - 1000
    expect(await role()).toMatchObject({ accessKeyId: 'ASIA' })
    await expect.poll(() => asked.map((form) => form.get('WebIdentityToken'))).toContain('second')
    nowMs = expiresMs
    await expect.poll(() => role().catch(String)).toContain('answered 503')
  })

  it('reports the code of a refusal, but neither the token nor the rest', async () => {
    refuse = (response) =>
      response
        .writeHead(403)
        .end(
          '<ErrorResponse><Error><Code>AccessDenied</Code><Message>first</Message></Error></ErrorResponse>',
        )
    const failure = createRole(env)()
    await expect(failure).rejects.toThrow('answered 403 (AccessDenied) when asked')
    await expect(failure).rejects.not.toThrow('first')
  })

  it('reports the status of a refusal whatever its body', async () => {
    refuse = (response) => response.writeHead(503).end('x'.repeat(70_000))
    await expect(createRole(env)()).rejects.toThrow('answered 503 when asked')
  })

  it.each([
    [
      { AWS_ENDPOINT_URL_STS: 'http://me:secret@sts.example' },
      'AWS_ENDPOINT_URL_STS must be https',
    ],
    [{ AWS_ENDPOINT_URL_STS: 'sts.example' }, 'AWS_ENDPOINT_URL_STS must be https'],
    [{ AWS_ENDPOINT_URL_STS: 'http://me:secret@127.0.0.1:1' }, 'http://127.0.0.1:1/ gave no'],
    [{ AWS_ROLE_ARN: '' }, 'AWS_ROLE_ARN must name the role'],
  ])('sends no token if %j is set', async (wrong, message) => {
    const failure = createRole({ ...env, ...wrong })()
    await expect(failure).rejects.toThrow(message)
    await expect(failure).rejects.not.toThrow('secret')
    expect(asked).toEqual([])
  })

  it('asks STS through the egress proxy, and an agent directly', async () => {
    const proxied: string[] = []
    const proxy = createServer().on('connect', (request, socket) => {
      proxied.push(String(request.url))
      socket.end('HTTP/1.1 403 Forbidden\r\n\r\n')
    })
    const proxies = proxyRules({ HTTPS_PROXY: await started(proxy) })
    const real = { ...env, AWS_ENDPOINT_URL_STS: '', AWS_REGION: 'cn-north-1' }
    await expect(createRole(real, { proxies })()).rejects.toThrow('gave no')
    expect(proxied).toEqual(['sts.cn-north-1.amazonaws.com.cn:443'])
    const agent = { AWS_CONTAINER_CREDENTIALS_FULL_URI: 'https://agent.invalid/' }
    await expect(createRole(agent, { proxies })()).rejects.toThrow('gave no')
    expect(proxied).toHaveLength(1)
  })

  it.each(['', '<html>', '{"first": 1}'])('says that %j gives no credentials', async (given) => {
    refuse = (response) => response.end(given)
    await expect(createRole(env)()).rejects.toThrow('gave no credentials of a role')
  })
})

const stsAnswer = (expiration: string) => `<?xml version="1.0"?>
<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">
  <AssumeRoleWithWebIdentityResult>
    <Credentials>
      <SessionToken>session&amp;more</SessionToken>
      <SecretAccessKey>a/b+c=</SecretAccessKey>
      <Expiration>${expiration}</Expiration>
      <AccessKeyId>ASIA</AccessKeyId>
    </Credentials>
  </AssumeRoleWithWebIdentityResult>
</AssumeRoleWithWebIdentityResponse>`
