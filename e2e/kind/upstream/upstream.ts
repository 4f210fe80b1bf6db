import { readFileSync } from 'node:fs'
import { GithubServer } from '../../../hack/testbed/upstream/github.ts'
import type { UpstreamAuthority } from '../../../hack/testbed/upstream/https-server.ts'
import { UpstreamRegistry } from '../../../hack/testbed/upstream/registry.ts'
import type { Upstream } from './contents.ts'

/*
 * The test upstreams in a pod: `node upstream.mjs FOLDER`, where FOLDER is a mounted Secret with a certificate
 * and `contents.json`. It is bundled and runs on the Node of the image under test.
 */

const [folder = '.'] = process.argv.slice(2)
const read = (name: string): string => readFileSync(`${folder}/${name}`, 'utf8')
const { hostname, ports, tags, providers } = JSON.parse(read('contents.json')) as Upstream

const certificate = {
  cert: read('tls.crt'),
  key: read('tls.key'),
  certFile: `${folder}/tls.crt`,
  keyFile: `${folder}/tls.key`,
}
const place: UpstreamAuthority = {
  authority: { server: () => certificate },
  placeOf: (name) => ({ address: '0.0.0.0', hostname, port: ports[name] ?? 0 }),
  ca: '',
  caFile: '',
  remove: () => {},
}

const github = await GithubServer.start(place)
for (const { repository, tag, files } of tags) github.tag(repository, tag, files)

const registry = await UpstreamRegistry.start(place)
for (const { signature, key, platforms, ...provider } of providers) {
  registry.addProvider({
    ...provider,
    platforms: Object.fromEntries(
      Object.entries(platforms).map(([platform, zip]) => [platform, Buffer.from(zip, 'base64')]),
    ),
    key: { ...key, sign: () => Buffer.from(signature, 'base64') },
  })
}

process.once('SIGTERM', () => process.exit(0))
console.log('ready')
