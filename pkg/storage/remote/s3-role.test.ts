import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createRole } from './s3-role.ts'

/** As the agent of EKS Pod Identity answers: without a `Code`. */
const answer = (expiresInMs: number) => ({
  AccessKeyId: 'AKIA',
  SecretAccessKey: 'secret',
  Token: 'session',
  AccountId: '123456789012',
  Expiration: new Date(Date.now() + expiresInMs).toISOString(),
})

describe('EKS Pod Identity', () => {
  let dir: string
  let agent: Server
  let asked: (string | undefined)[]
  let body: object
  let env: Record<string, string>

  beforeEach(async () => {
    dir = mkdtempSync(join(tmpdir(), 'depot-role-'))
    asked = []
    body = answer(3_600_000)
    agent = createServer((request, response) => {
      asked.push(request.headers.authorization)
      response.end(JSON.stringify(body))
    })
    agent.listen(0, '127.0.0.1')
    await once(agent, 'listening')
    const { port } = agent.address() as AddressInfo
    writeFileSync(join(dir, 'token'), 'first\n')
    env = {
      AWS_CONTAINER_CREDENTIALS_FULL_URI: `http://127.0.0.1:${port}/v1/credentials`,
      AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: join(dir, 'token'),
    }
  })
  afterEach(() => {
    agent.close()
    rmSync(dir, { recursive: true })
  })

  it('gives credentials for the token in its file, once for all who ask', async () => {
    const role = createRole(env)
    const all = await Promise.all([role.getCredentials(), role.getCredentials()])
    expect(all.map((one) => [one.accessKey, one.secretKey, one.sessionToken])).toEqual([
      ['AKIA', 'secret', 'session'],
      ['AKIA', 'secret', 'session'],
    ])
    await role.getCredentials()
    expect(asked).toEqual(['first'])
  })

  it('is asked again before they expire, with the token that is there then', async () => {
    body = answer(60_000)
    const role = createRole(env)
    await role.getCredentials()
    writeFileSync(join(dir, 'token'), 'second')
    await role.getCredentials()
    expect(asked).toEqual(['first', 'second'])
  })

  it.each([
    ['no credentials', {}, 'gave no credentials'],
    ['another answer', { ...answer(1000), Token: 7 }, 'gave no credentials'],
  ])('that gives %s says so', async (_, given, message) => {
    body = given
    await expect(createRole(env).getCredentials()).rejects.toThrow(message)
  })

  it('is not asked without encryption at a foreign address', async () => {
    env['AWS_CONTAINER_CREDENTIALS_FULL_URI'] = 'http://example.com/credentials'
    await expect(createRole(env).getCredentials()).rejects.toThrow('must be https')
  })
})
