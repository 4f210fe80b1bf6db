import { createHash, randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { Cookies, foreignCookies, setsOurCookie } from './cookies.ts'
import { Seal } from './seal.ts'
import { packToken, type Session, Sessions, SessionTooLarge, unpackToken } from './session.ts'

const one = 'the first password has 32 letters'
const two = 'the second password has 33 letters'
const signedInAt = 1_700_000_000_000
const hour = 3_600_000

const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

/** A token with realistic group names and a signature of 256 bytes. */
function tokenWith(groups: number): string {
  const names = Array.from(
    { length: groups },
    (_, n) => `grp-platform-team-${n}-developers-prod-eu`,
  )
  const claims = { iss: 'https://sso.example.com/realms/acme', sub: 'alice', aud: 'depot-ui' }
  const body = part({ ...claims, email: 'alice@example.com', exp: 1_700_003_600, groups: names })
  return `${part({ alg: 'RS256', kid: 'a1' })}.${body}.${randomBytes(256).toString('base64url')}`
}

function sessionsOf(passwords: readonly [string, ...string[]], clock = () => Date.now()) {
  return new Sessions({ seal: new Seal(passwords), ttlMs: 8 * hour, clock })
}

/** The Cookie header that a browser sends after these lines. */
function kept(cookies: Cookies): string {
  return cookies.lines
    .filter((line) => !line.includes('Max-Age=0'))
    .map((line) => line.split(';')[0])
    .join('; ')
}

async function written(session: Session, sessions = sessionsOf([one])): Promise<string> {
  const cookies = new Cookies(undefined, true)
  await sessions.write(cookies, session)
  return kept(cookies)
}

const read = (header: string, sessions = sessionsOf([one])) =>
  sessions.read(new Cookies(header, true))

describe('a session', () => {
  const session: Session = {
    idToken: tokenWith(3),
    refreshToken: 'opaque',
    expiresAt: Date.now() + hour,
    devToken: 'not.a.jwt',
    signedInAt: Date.now(),
  }

  it('is restored from its cookie', async () => {
    expect(await read(await written(session))).toEqual(session)
  })

  it('shows none of its content in the cookie', async () => {
    const header = await written(session)
    expect(header).toMatch(/^__Host-depot-session=Fe26/)
    for (const secret of ['opaque', 'alice', session.idToken ?? '', part({ alg: 'RS256' })]) {
      expect(header).not.toContain(secret)
      expect(Buffer.from(header, 'base64url').toString()).not.toContain(secret)
    }
  })

  it('is bound to this host over https and hidden from scripts', async () => {
    const cookies = new Cookies(undefined, true)
    await sessionsOf([one]).write(cookies, session)
    expect(cookies.lines[0]).toMatch(/; Path=\/; HttpOnly; Secure; SameSite=Lax$/)
    expect(cookies.lines[0]).not.toContain('Domain')
  })

  it('has a plain name over http, where browsers accept no prefix', async () => {
    const cookies = new Cookies(undefined, false)
    await sessionsOf([one]).write(cookies, session)
    expect(cookies.lines[0]).toMatch(/^depot-session=/)
    expect(cookies.lines[0]).not.toContain('Secure')
  })

  it('fits into 1.8 KB with 300 groups', async () => {
    const token = tokenWith(300)
    expect(token.length).toBeGreaterThan(14_000)
    const header = await written({ idToken: token, signedInAt: Date.now() })
    expect(header.length).toBeLessThan(1_800)
    expect((await read(header))?.idToken).toBe(token)
  })

  it('has the same size for every signature', () => {
    const lengths = Array.from({ length: 20 }, () => packToken(tokenWith(300)).length)
    expect(new Set(lengths).size).toBe(1)
  })

  it('uses a second cookie if one is too small', async () => {
    const idToken = tokenOfNoise(3_000)
    const header = await written({ idToken, signedInAt: Date.now() })
    expect(header.split('; ').map((pair) => pair.split('=')[0])).toEqual([
      '__Host-depot-session',
      '__Host-depot-session.1',
    ])
    for (const pair of header.split('; ')) expect(pair.length).toBeLessThan(3_900)
    expect((await read(header))?.idToken).toBe(idToken)
  })

  it('says how many groups are too many, and writes nothing', async () => {
    const groups = Array.from({ length: 900 }, () => randomBytes(16).toString('base64'))
    const idToken = `${part({})}.${part({ groups })}.`
    const cookies = new Cookies(undefined, true)
    const failed = sessionsOf([one]).write(cookies, { idToken, signedInAt: Date.now() })
    await expect(failed).rejects.toMatchObject({ groups: 900 })
    await expect(failed).rejects.toBeInstanceOf(SessionTooLarge)
    expect(cookies.lines).toEqual([])
  })

  it('clears the second cookie when it is no longer needed', async () => {
    const long = await written({ idToken: tokenOfNoise(3_000), signedInAt: Date.now() })
    const cookies = new Cookies(long, true)
    await sessionsOf([one]).write(cookies, { idToken: tokenWith(1), signedInAt: Date.now() })
    expect(cookies.lines.at(-1)).toMatch(/^__Host-depot-session\.1=; Max-Age=0/)
  })

  it('ends at its maximum lifetime, independent of its tokens', async () => {
    const clock = () => signedInAt
    const header = await written({ ...session, signedInAt }, sessionsOf([one], clock))
    expect(
      await read(
        header,
        sessionsOf([one], () => signedInAt + 8 * hour),
      ),
    ).toBeUndefined()
  })
})

describe('a cookie that was tampered with', () => {
  const session: Session = { idToken: tokenOfNoise(3_000), signedInAt: Date.now() }

  it('is refused if it is cut off', async () => {
    const header = await written(session)
    for (const length of [25, 100, 1_000, header.length - 3]) {
      expect(await read(header.slice(0, length))).toBeUndefined()
    }
  })

  it('is refused without its second part, or with that of another session', async () => {
    const [first = '', second = ''] = (await written(session)).split('; ')
    const [, other = ''] = (await written({ ...session, idToken: tokenOfNoise(3_000) })).split('; ')
    expect(await read(`${first}; ${second}`)).toBeDefined()
    expect(await read(first)).toBeUndefined()
    expect(await read(`${first}; ${other}`)).toBeUndefined()
    expect(await read(second.replace('.1=', '='))).toBeUndefined()
  })

  it('is refused if a letter was changed', async () => {
    const header = await written({ devToken: 'token', signedInAt: Date.now() })
    for (let at = 30; at < header.length; at += 37) {
      const letter = header[at] === 'A' ? 'B' : 'A'
      expect(await read(header.slice(0, at) + letter + header.slice(at + 1))).toBeUndefined()
    }
  })

  it('is refused if it was sealed for another purpose', async () => {
    const seal = new Seal([one])
    const attempt = await seal.seal('login', { signedInAt: Date.now(), dev: packToken('a') }, 600)
    expect(await read(`__Host-depot-session=${attempt}`)).toBeUndefined()
  })

  it.each(['', 'x', '__proto__', 'Fe26.2**', 'Fe26.2*1*2*3*4*5*6*7~2', 'a'.repeat(8_000)])(
    'is refused if it is %j',
    async (value) => {
      expect(await read(`__Host-depot-session=${value}`)).toBeUndefined()
    },
  )

  it('is refused under the name without prefix', async () => {
    const header = await written({ devToken: 'token', signedInAt: Date.now() })
    expect(await read(header.replace('__Host-', ''))).toBeUndefined()
  })
})

describe('passwords', () => {
  const session: Session = { devToken: 'token', signedInAt: Date.now() }

  it('can be rotated without ending a session', async () => {
    const old = await written(session, sessionsOf([one]))
    expect(await read(old, sessionsOf([two, one]))).toEqual(session)
    const fresh = await written(session, sessionsOf([two, one]))
    expect(await read(fresh, sessionsOf([two]))).toEqual(session)
  })

  it('stop working after the rotation: a replayed cookie is refused', async () => {
    const old = await written(session, sessionsOf([one]))
    expect(await read(old, sessionsOf([two]))).toBeUndefined()
    const fresh = await written(session, sessionsOf([two, one]))
    expect(await read(fresh, sessionsOf([one]))).toBeUndefined()
  })
})

it.each(['a.b', 'a.b.c.d', 'YQ.YQ.YR', '', 'é.ü.ß', `${part({})}.${part({})}.`, '....'])(
  'restores the packed token %j exactly',
  (token) => {
    expect(unpackToken(packToken(token))).toBe(token)
  },
)

it.each([
  [undefined, undefined],
  ['depot-session=a', undefined],
  ['__Host-depot-session=a; __Host-depot-session.1=b;depot-theme=dark', undefined],
  ['a=1; __host-DEPOT-session=x ;b=2', 'a=1; b=2'],
  ['a="1; depot-session=x"; b', 'a="1; b'],
  ['depot=1; xdepot-session=2', 'depot=1; xdepot-session=2'],
])('removes its own cookies from %j', (header, rest) => {
  expect(foreignCookies(header)).toBe(rest)
})

it('recognizes its own names in cookies of another server', () => {
  expect(setsOurCookie(' __Host-depot-session=x; Path=/')).toBe(true)
  expect(setsOurCookie('_session=depot-session')).toBe(false)
})

/** A JWT of bytes that cannot be compressed. */
function tokenOfNoise(bytes: number): string {
  const noise = createHash('shake256', { outputLength: bytes }).update(randomBytes(8)).digest()
  return `${part({})}.${noise.toString('base64url')}.`
}
