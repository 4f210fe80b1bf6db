import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { freePorts } from '../testbed/ports.ts'
import { type Rendered, tool } from './helm.fixture.ts'

/*
 * A VirtualService by HTTP: Envoy with the routes that Istio makes of it. Its `exact`, `prefix` and default rules are Envoy's
 * `path`, `prefix` and `prefix: /`, in the same order.
 */

export interface Mesh {
  /** The Service for a path. */
  to(path: string): Promise<string>
  close(): Promise<void>
}

const rulesOf = (service: Rendered): readonly object[] =>
  (service.spec?.http ?? []).flatMap(({ match = [{ uri: { prefix: '/' } }], route }) =>
    match.map(({ uri: { exact, prefix } }) => ({
      match: exact === undefined ? { prefix } : { path: exact },
      direct_response: {
        status: 200,
        body: { inline_string: route[0]?.destination.host.split('.', 1)[0] },
      },
    })),
  )

/** Settings of an Envoy that answers each path with the name of its Service. */
const settings = (port: number, service: Rendered): object => ({
  static_resources: {
    listeners: [
      {
        address: { socket_address: { address: '127.0.0.1', port_value: port } },
        filter_chains: [
          {
            filters: [
              {
                name: 'http',
                typed_config: {
                  '@type':
                    'type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager',
                  stat_prefix: 'http',
                  // As in Istio's gateways.
                  normalize_path: true,
                  route_config: {
                    virtual_hosts: [{ name: 'all', domains: ['*'], routes: rulesOf(service) }],
                  },
                  http_filters: [
                    {
                      name: 'router',
                      typed_config: {
                        '@type':
                          'type.googleapis.com/envoy.extensions.filters.http.router.v3.Router',
                      },
                    },
                  ],
                },
              },
            ],
          },
        ],
      },
    ],
  },
})

/** Sends the path unchanged, which `fetch` would normalize. */
async function answerOf(port: number, path: string): Promise<string> {
  const asked = request({ host: '127.0.0.1', port, path, agent: false }).end()
  const [answer] = await once(asked, 'response')
  return text(answer)
}

export async function startMesh(service: Rendered): Promise<Mesh> {
  const folder = mkdtempSync(join(tmpdir(), 'depot-envoy-'))
  const [port = 0] = await freePorts(1)
  const file = join(folder, 'envoy.json')
  writeFileSync(file, JSON.stringify(settings(port, service)))
  const flags = ['--disable-hot-restart', '--concurrency', '1', '--log-level', 'warning']
  const envoy = spawn(tool('envoy'), ['-c', file, ...flags], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const said = text(envoy.stderr)
  const ended = once(envoy, 'exit')
  const close = async (): Promise<void> => {
    envoy.kill()
    await ended
    rmSync(folder, { recursive: true })
  }
  for (;;) {
    if (envoy.exitCode !== null) throw new Error(`envoy ended: ${await said}`)
    const up = await answerOf(port, '/').then(
      () => true,
      () => false,
    )
    if (up) return { to: (path) => answerOf(port, path), close }
    await new Promise((done) => setTimeout(done, 50))
  }
}
