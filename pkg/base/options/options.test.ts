import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  authModeOf,
  lintCommand,
  OptionsError,
  parseOptions,
  type ServerCommandOptions,
  serverCommand,
} from './options.ts'

type Env = Record<string, string>

function parse(argv: string[], env: Env = {}) {
  const parsed = parseOptions(serverCommand, argv, env)
  if (parsed.kind !== 'options') throw new Error(`asked for ${parsed.kind}`)
  return parsed
}

function problemsOf(argv: string[], env: Env = {}): readonly string[] {
  try {
    parse(argv, env)
    return []
  } catch (thrown) {
    if (thrown instanceof OptionsError) return thrown.problems
    throw thrown
  }
}

const oidc = ['--oidc-issuer-url=https://dex.acme.example/dex', '--oidc-client-id=depot']

describe('a value', () => {
  it('comes from the flag, otherwise from the environment, otherwise from the default', () => {
    const env = { DEPOT_LOG_LEVEL: 'warn' }
    expect(parse(['--log-level', 'debug'], env).options.logLevel).toBe('debug')
    expect(parse([], env).options.logLevel).toBe('warn')
    expect(parse([]).options.logLevel).toBe('info')
  })

  it('ignores the environment if the flag is set', () => {
    expect(problemsOf(['--log-level=debug'], { DEPOT_LOG_LEVEL: 'loud' })).toEqual([])
  })

  it('counts as not set if its variable is empty', () => {
    expect(parse([], { DEPOT_LISTEN: '', DEPOT_BASE_URL: '' }).options).toMatchObject({
      listen: { port: 8080 },
      baseUrl: undefined,
    })
  })

  it('comes from $POD_NAMESPACE before the default for --namespace', () => {
    expect(parse([], { POD_NAMESPACE: 'tools' }).options.namespace).toBe('tools')
    expect(parse([], { POD_NAMESPACE: 'a', DEPOT_NAMESPACE: 'b' }).options.namespace).toBe('b')
  })

  it('ignores variables that Kubernetes adds for a Service', () => {
    const env = { DEPOT_SERVICE_HOST: '10.0.0.1', DEPOT_PORT: 'tcp://10.0.0.1:80' }
    expect(problemsOf([], env)).toEqual([])
  })
})

it.each<{ argv: string[]; options: Partial<ServerCommandOptions> }>([
  { argv: ['--listen=:0'], options: { listen: { host: undefined, port: 0 } } },
  { argv: ['--listen', '127.0.0.1:80'], options: { listen: { host: '127.0.0.1', port: 80 } } },
  { argv: ['--listen=[::1]:80'], options: { listen: { host: '::1', port: 80 } } },
  { argv: ['--listen=localhost:80'], options: { listen: { host: 'localhost', port: 80 } } },
  {
    argv: ['--stats-valkey-addr=valkey:6379'],
    options: { statsValkeyAddr: { host: 'valkey', port: 6379, tls: false } },
  },
  {
    argv: ['--stats-valkey-addr=valkeys://[::1]:6379/'],
    options: { statsValkeyAddr: { host: '::1', port: 6379, tls: true } },
  },
  {
    argv: ['--stats-valkey-addr=redis://cache.example:6380'],
    options: { statsValkeyAddr: { host: 'cache.example', port: 6380, tls: false } },
  },
  { argv: ['--trust-proxy'], options: { trustProxy: true } },
  { argv: ['--trust-proxy=true'], options: { trustProxy: true } },
  { argv: ['--trust-proxy=0'], options: { trustProxy: false } },
  {
    argv: ['--base-url=https://depot.acme.example/'],
    options: { baseUrl: 'https://depot.acme.example' },
  },
  { argv: ['--base-url=http://h/a/'], options: { baseUrl: 'http://h/a' } },
  { argv: ['--shutdown-grace-period=1m30s'], options: { shutdownGracePeriodMs: 90_000 } },
  { argv: ['--shutdown-grace-period=0.5s'], options: { shutdownGracePeriodMs: 500 } },
  { argv: ['--passthrough-cache-ttl=0'], options: { passthroughCacheTtlMs: 0 } },
  {
    argv: ['--archive-cache-dir=c', '--archive-cache-size=1.5GiB'],
    options: { archiveCacheDir: 'c', archiveCacheSizeBytes: 1_610_612_736 },
  },
  {
    argv: ['--archive-cache-dir=c', '--archive-cache-size=2GB'],
    options: { archiveCacheSizeBytes: 2_000_000_000 },
  },
  {
    argv: ['--archive-cache-dir=c', '--archive-cache-size=512Mi'],
    options: { archiveCacheSizeBytes: 536_870_912 },
  },
  {
    argv: [...oidc, '--oidc-scopes=openid, email'],
    options: { oidcScopes: ['openid', 'email'] },
  },
  { argv: ['--watch-namespace='], options: { watchNamespace: undefined } },
  { argv: ['--kubeconfig=-odd'], options: { kubeconfig: '-odd' } },
])('$argv is read', ({ argv, options }) => {
  expect(parse(argv).options).toMatchObject(options)
})

it.each([
  ['true', true],
  ['1', true],
  ['false', false],
  ['0', false],
])('a switch of %j in the environment is %j', (text, value) => {
  expect(parse([], { DEPOT_TRUST_PROXY: text }).options.trustProxy).toBe(value)
})

describe('reports a wrong value with its correction', () => {
  it.each([
    ['--listen=8080', 'is not an address: write :8080, 127.0.0.1:8080'],
    ['--listen=:65536', 'is not an address'],
    ['--listen=::1:80', 'is not an address'],
    ['--listen=[nope]:80', 'is not an address'],
    ['--listen=999.1.1.1:80', 'is not an address'],
    ['--stats-valkey-addr=:6379', 'is not a host and port: write, for example, valkey:6379'],
    ['--stats-valkey-addr=valkey:0', 'is not a host and port'],
    ['--stats-valkey-addr=https://valkey:6379', 'is not a host and port'],
    ['--trust-proxy=maybe', 'is neither true nor false: write true or false'],
    ['--base-url=depot.acme.example', 'is not a URL: write an absolute one'],
    ['--base-url=ftp://h', 'is not a URL'],
    ['--base-url=https://h/#top', 'is not a URL'],
    ['--base-url=https://h/?', 'has a query'],
    ['--base-url=https://h h', 'is not a URL'],
    ['--tls-cert-path=', 'is empty: write a value'],
    ['--shutdown-grace-period=20', 'is not a duration: write, for example, 500ms, 10s'],
    ['--shutdown-grace-period=-1s', 'is not a duration'],
    ['--shutdown-grace-period=25h', 'is out of range: write 0 to 24h'],
    ['--stats-refresh-interval=0', 'is out of range: write 100ms to 24h'],
    ['--archive-cache-size=0', 'is not a size: write, for example, 10GiB'],
    ['--archive-cache-size=9999999TiB', 'is not a size'],
    ['--oidc-scopes=openid email', 'is not a list: separate the items by commas'],
    ['--oidc-scopes=openid,', 'is not a list'],
    ['--api-group=Depot', 'is not an API group'],
    ['--namespace=', 'is not a namespace'],
    ['--watch-namespace=A', 'is not a namespace'],
    ['--log-level=loud', 'is not a log level: write trace, debug, info'],
  ])('%s', (argument, problem) => {
    const [flag, text] = argument.split(/=(.*)/s)
    expect(problemsOf([argument])).toContainEqual(
      expect.stringContaining(`${flag}: ${JSON.stringify(text)} ${problem}`),
    )
  })

  it('names the variable that the value came from', () => {
    expect(problemsOf([], { DEPOT_LOG_LEVEL: 'loud' })).toEqual([
      expect.stringContaining('--log-level (set by DEPOT_LOG_LEVEL): "loud" is not a log level'),
    ])
  })

  it('cuts long values, and hides the credentials of a URL', () => {
    const [problem = ''] = problemsOf([`--base-url=https://me:hunter2@h/${'x'.repeat(5_000)}`])
    expect(problem).not.toContain('hunter2')
    expect(problem.length).toBeLessThan(300)
  })
})

describe('a command line with a slip', () => {
  it.each<[argv: string[], problem: string]>([
    [['--lisen', ':80'], '--lisen is unknown: did you mean --listen?'],
    [['--trust_proxy'], '--trust_proxy is unknown: did you mean --trust-proxy?'],
    [['--oidc-issuer=x'], '--oidc-issuer is unknown: did you mean --oidc-issuer-url?'],
    [['-listen'], '-listen is unknown: did you mean --listen?'],
    [['--no-trust-proxy'], '--no-trust-proxy is unknown: write --trust-proxy=false'],
    [['--nonsense'], '--nonsense is unknown: --help lists all flags'],
    [['--__proto__'], '--__proto__ is unknown: --help lists all flags'],
    [['--constructor=1'], '--constructor is unknown: --help lists all flags'],
    [['--base-url', '--trust-proxy'], '--base-url has no value: write --base-url=URL'],
    [['--manifests'], '--manifests has no value: write --manifests=PATH'],
    [
      ['--trust-proxy', 'true'],
      '"true" does not belong after --trust-proxy: write --trust-proxy, or --trust-proxy=true or =false',
    ],
    [['serve'], '"serve" belongs to no flag: write --flag=value, or leave it out'],
    [['--', ':80'], '":80" belongs to no flag: write --flag=value, or leave it out'],
    [
      ['--log-level=info', '--log-level=info'],
      '--log-level is given more than once: keep one of them',
    ],
    [
      ['--gpg-passphrase=hunter2'],
      '--gpg-passphrase is a secret and no flag: set DEPOT_GPG_PASSPHRASE or DEPOT_GPG_PASSPHRASE_FILE',
    ],
  ])('%j', (argv, problem) => {
    expect(problemsOf(argv)[0]).toBe(problem)
  })
})

describe('options that contradict each other', () => {
  const manifests = ['--manifests=m', '--anonymous-auth']
  it.each<[argv: string[], problem: string]>([
    [
      ['--tls-cert-path=c'],
      '--tls-cert-path needs --tls-cert-key (or DEPOT_TLS_CERT_KEY): set both, or neither',
    ],
    [['--tls-cert-key=k'], '--tls-cert-key needs --tls-cert-path'],
    [['--oidc-issuer-url=https://i'], '--oidc-issuer-url needs --oidc-client-id'],
    [['--oidc-client-id=i'], '--oidc-client-id needs --oidc-issuer-url'],
    [['--use-bearer-token', ...oidc], '--use-bearer-token and --oidc-issuer-url exclude'],
    [['--use-bearer-token', '--anonymous-auth'], '--use-bearer-token and --anonymous-auth exclude'],
    [['--oidc-allow-sa-fallback'], '--oidc-allow-sa-fallback needs --oidc-issuer-url'],
    [['--oidc-allow-client-credentials'], '--oidc-allow-client-credentials needs'],
    [['--oidc-ui-client-id=ui'], '--oidc-ui-client-id needs'],
    [['--oidc-scopes=openid'], '--oidc-scopes needs'],
    [['--oidc-groups-claim=roles'], '--oidc-groups-claim needs'],
    [['--oidc-authz-url=https://i/a'], '--oidc-authz-url needs'],
    [['--oidc-token-url=https://i/t'], '--oidc-token-url needs'],
    [[...manifests, '--kubeconfig=k'], '--manifests and --kubeconfig exclude'],
    [['--manifests=m', '--use-bearer-token'], '--manifests and --use-bearer-token exclude'],
    [['--manifests=m'], '--manifests needs --anonymous-auth (or DEPOT_ANONYMOUS_AUTH) or'],
    [['--archive-cache-size=1GiB'], '--archive-cache-size needs --archive-cache-dir'],
    [['--listen=:9090'], '--listen and --admin-listen (or DEPOT_ADMIN_LISTEN) are both :9090'],
  ])('%j', (argv, problem) => {
    expect(problemsOf(argv)).toEqual([expect.stringContaining(problem)])
  })

  it.each<[argv: string[], env?: Env]>([
    [[...manifests]],
    [['--manifests=m', ...oidc]],
    [['--anonymous-auth', ...oidc]],
    [['--use-bearer-token=false', ...oidc]],
    [['--oidc-allow-sa-fallback=false']],
    [['--listen=127.0.0.1:0', '--admin-listen=127.0.0.1:0']],
    [['--tls-cert-path=c'], { DEPOT_TLS_CERT_KEY: 'k' }],
  ])('are not %j', (argv, env) => {
    expect(problemsOf(argv, env)).toEqual([])
  })
})

describe('an issuer', () => {
  const withIssuer = (url: string) => [`--oidc-issuer-url=${url}`, '--oidc-client-id=depot']

  it.each([
    'https://dex.acme.example',
    'https://dex.acme.example/dex/',
    'http://127.0.0.1:5556/dex',
    'http://localhost:5556',
    'http://[::1]:5556',
    'http://depot-broker/dex',
    'http://depot-broker.depot.svc:5556',
    'http://depot-broker.depot.svc.cluster.local',
  ])('%s is taken as it is written', (url) => {
    expect(parse(withIssuer(url)).options.oidcIssuerUrl).toBe(url)
  })

  it.each([
    'http://dex.acme.example',
    'http://10.0.0.1',
    'http://localhost.evil.example',
    'http://svc.evil.example',
    'http://127.0.0.1.evil.example',
    'http://[::2]',
    'https://dex.acme.example?x',
    'dex.acme.example',
  ])('%s is refused', (url) => {
    expect(problemsOf(withIssuer(url))).toHaveLength(1)
  })
})

it.each([
  { argv: [], mode: 'kubeconfig' },
  { argv: ['--anonymous-auth'], mode: 'anonymous' },
  { argv: ['--use-bearer-token'], mode: 'bearer' },
  { argv: oidc, mode: 'oidc' },
  { argv: ['--anonymous-auth', ...oidc], mode: 'oidc' },
])('$argv chooses the mode $mode', ({ argv, mode }) => {
  expect(authModeOf(parse(argv).options)).toBe(mode)
})

describe('a secret', () => {
  const file = join(mkdtempSync(join(tmpdir(), 'depot-options-')), 'passphrase')
  writeFileSync(file, ' correct horse \n')
  const empty = `${file}-empty`
  writeFileSync(empty, '\n')

  it('comes from its variable, and is not among the options, which may be logged', () => {
    const { options, secrets } = parse([], { DEPOT_GPG_PASSPHRASE: 'hunter2' })
    expect(secrets).toEqual({ gpgPassphrase: 'hunter2', valkeyPassword: undefined })
    expect(JSON.stringify(options)).not.toContain('hunter2')
  })

  it('comes from a file, without the line end', () => {
    const { secrets } = parse([], { DEPOT_GPG_PASSPHRASE_FILE: file })
    expect(secrets.gpgPassphrase).toBe(' correct horse ')
  })

  it.each<[string, Env, string]>([
    ['both', { DEPOT_GPG_PASSPHRASE: 'a', DEPOT_GPG_PASSPHRASE_FILE: file }, 'are both set'],
    ['a missing file', { DEPOT_VALKEY_PASSWORD_FILE: `${file}-no` }, 'cannot be read: ENOENT'],
    ['an empty file', { DEPOT_VALKEY_PASSWORD_FILE: empty }, 'is empty'],
  ])('is refused from %s', (_, env, problem) => {
    expect(problemsOf([], env)).toEqual([expect.stringContaining(problem)])
  })
})

it('reports every mistake at once', () => {
  const problems = problemsOf(
    ['--lisen=:80', '--log-level', '--tls-cert-key=k', '--base-url=x', 'serve'],
    { DEPOT_TRUST_PROXY: 'maybe', DEPOT_VALKEY_PASSWORD_FILE: '/nowhere/at/all' },
  )
  expect(problems).toEqual([
    expect.stringContaining('--lisen is unknown'),
    expect.stringContaining('--log-level has no value'),
    expect.stringContaining('"serve" belongs to no flag'),
    expect.stringContaining('--base-url: "x"'),
    expect.stringContaining('--trust-proxy (set by DEPOT_TRUST_PROXY): "maybe"'),
    expect.stringContaining('DEPOT_VALKEY_PASSWORD_FILE cannot be read'),
    expect.stringContaining('--tls-cert-key needs --tls-cert-path'),
  ])
})

describe('an option with an earlier name', () => {
  it('is read from the earlier flag and variable too', () => {
    expect(parse(['--filesystem-mount-path', 'old']).options.archives).toBe('old')
    expect(parse([], { DEPOT_FILESYSTEM_MOUNT_PATH: 'old' }).options.archives).toBe('old')
    expect(parse([], { DEPOT_ARCHIVES: 'new' }).options.archives).toBe('new')
  })

  it('has one value', () => {
    expect(problemsOf(['--archives=a', '--filesystem-mount-path=b'])).toEqual([
      '--archives is given more than once: keep one of them',
    ])
    expect(problemsOf([], { DEPOT_ARCHIVES: 'a', DEPOT_FILESYSTEM_MOUNT_PATH: 'b' })).toEqual([
      '--archives: DEPOT_ARCHIVES and DEPOT_FILESYSTEM_MOUNT_PATH differ: set one of them',
    ])
  })
})

it.each([[['-o', 'json']], [['-o=json']], [['--output=json']], [['--format', 'json']]])(
  'reads the output format from %j',
  (argv) => {
    const parsed = parseOptions(lintCommand, [...argv, 'folder'], {})
    expect(parsed).toMatchObject({ options: { output: 'json' }, operands: ['folder'] })
  },
)

describe('the usage', () => {
  it('has the options of a group below its heading', () => {
    const parsed = parseOptions(serverCommand, ['-h'], {})
    const text = parsed.kind === 'help' ? parsed.text : ''
    expect(text).toMatch(/^Addresses:\n\n {2}--listen ADDRESS /m)
    expect(text).toMatch(/\n\nCallers:\n\n {2}--anonymous-auth /)
  })

  it.each([['--help'], ['-h'], ['--help', '--nonsense']])('is printed for %j %j', (...argv) => {
    const parsed = parseOptions(serverCommand, argv, {})
    const lines = parsed.kind === 'help' ? parsed.text.split('\n') : []
    expect(lines).toContainEqual(
      expect.stringMatching(/^ {2}--listen ADDRESS +Address .*\[:8080\]$/),
    )
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(110)
  })

  it('lists environment variables without a flag, if there are any', () => {
    const usage = (command: Parameters<typeof parseOptions>[0]) => {
      const parsed = parseOptions(command, ['--help'], {})
      return parsed.kind === 'help' ? parsed.text : ''
    }
    expect(usage(serverCommand)).toMatch(/without a flag:\n\n {2}DEPOT_S3_ENDPOINT +URL/)
    expect(usage(lintCommand)).not.toMatch(/without a flag|Secrets/)
  })

  it('is not printed by --version', () => {
    expect(parseOptions(serverCommand, ['--version'], {})).toEqual({ kind: 'version' })
  })
})
