import { expect, it } from 'vitest'
import { withSecretSources } from './secret-sources.ts'

const sources =
  'DEPOT_SESSION_PASSWORD session sessionPassword,/etc/depot/gpg/private-key.asc signing privateKey,/etc/tls server-tls'

it.each([
  [
    'a variable',
    '--session-password-path (or DEPOT_SESSION_PASSWORD): line 1 has 5 characters',
    'DEPOT_SESSION_PASSWORD is the key sessionPassword of the Secret session',
  ],
  [
    'a file that a key was mounted as',
    '--gpg-private-key-path: /etc/depot/gpg/private-key.asc holds no key',
    '/etc/depot/gpg/private-key.asc is the key privateKey of the Secret signing',
  ],
  [
    'the files of a folder, each once',
    "--tls-cert-path: cannot read /etc/tls/tls.crt: ENOENT, open '/etc/tls/tls.crt'; nor /etc/tls/tls.key.",
    '/etc/tls/tls.crt is the key tls.crt of the Secret server-tls; /etc/tls/tls.key is the key tls.key of the Secret server-tls',
  ],
])('says where %s is from', (_, message, added) => {
  expect(withSecretSources(message, sources)).toBe(`${message} (${added})`)
})

it.each([
  ['about something else', '--listen: port 8080 is taken', sources],
  ['outside of a cluster', 'DEPOT_SESSION_PASSWORD: too short', undefined],
  ['with sources that cannot be read', 'DEPOT_SESSION_PASSWORD: too short', ',=,x'],
])('leaves a message %s as it is', (_, message, given) => {
  expect(withSecretSources(message, given)).toBe(message)
})
