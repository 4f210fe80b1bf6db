import { expect, it } from 'vitest'
import { createLogger, createMetrics } from '../../base/telemetry/telemetry.ts'
import { Egress } from './egress.ts'
import { addressRules } from './hosts.ts'

/** Spellings of this machine, of private networks, and of names that lead to them. */
const spellings = [
  '127.0.0.1',
  '127.1',
  '127.0.1',
  '2130706433',
  '0x7f000001',
  '0x7f.1',
  '0x7f.0.0.1',
  '017700000001',
  '0177.0.0.1',
  '127.0.0.1.',
  '127.127.127.127',
  '%31%32%37.0.0.1',
  '①②⑦.0.0.1',
  '127。0。0。1',
  '0',
  '0.0.0.0',
  '10.0.0.1',
  '10.1',
  '0xa.1',
  '172.16.0.1',
  '172.31.255.255',
  '192.168.1.1',
  '192.168.257',
  '0300.0250.1.1',
  '169.254.169.254',
  '0xa9fea9fe',
  '2852039166',
  '100.64.0.1',
  '192.0.0.192',
  '198.18.0.1',
  '224.0.0.1',
  '255.255.255.255',
  '[::1]',
  '[::]',
  '[0:0:0:0:0:0:0:1]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[::127.0.0.1]',
  '[fe80::1]',
  '[fec0::1]',
  '[fc00::1]',
  '[fd12:3456::1]',
  '[ff02::1]',
  '[2002:7f00:1::]',
  '[64:ff9b::7f00:1]',
  '[64:ff9b:1::a00:1]',
  '[2001::1]',
  '[100::1]',
  '[2001:db8::1]',
  '[::ffff:0:127.0.0.1]',
]

const egress = new Egress({
  policy: { hosts: ['registry.example.com'], privateNetworks: [], publicDownloads: true },
  metrics: createMetrics({ version: 'test' }),
  log: createLogger('silent'),
})

it.each(spellings)('refuses https://%s before anything is sent', async (host) => {
  const { signal } = new AbortController()
  const request = egress.request(`https://${host}:1/`, { signal, namedByUpstream: true })
  await expect(request).rejects.toMatchObject({ reason: 'EgressRefused' })
})

it.each([
  '127.0.0.1',
  '10.1.2.3',
  '172.20.0.1',
  '192.168.0.1',
  '169.254.169.254',
  '100.100.100.100',
  '::1',
  '::ffff:10.0.0.1',
  '64:ff9b::a00:1',
  'fd00::1',
  'fe80::1%eth0',
  '2002:a00:1::1',
  'localhost',
])('refuses a name that resolves to %s', (address) => {
  expect(addressRules([]).refusal(address, true)).toBeDefined()
})

it.each(['1.1.1.1', '140.82.121.4', '2606:4700::1111'])(
  'allows the public address %s',
  (address) => {
    expect(addressRules([]).refusal(address, false)).toBeUndefined()
  },
)

it('opens a named private network only to named hosts', () => {
  const rules = addressRules(['10.0.0.0/8', 'fd00::/8'])
  expect([rules.refusal('10.1.1.1', true), rules.refusal('fd00::1', true)]).toEqual([
    undefined,
    undefined,
  ])
  expect(rules.refusal('::ffff:10.1.1.1', true)).toBeUndefined()
  expect(rules.refusal('10.1.1.1', false)).toBe('is not public (private)')
  expect(rules.refusal('192.168.1.1', true)).toBe('is not public (private)')
})

it.each(['10.0.0.0', '10.0.0.0/33', 'internal', ''])('refuses %j as a network', (network) => {
  expect(() => addressRules([network])).toThrow('is not a network')
})
