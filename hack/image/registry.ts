/** The digest of an image's tag, from its registry. OCI distribution specification, 1.1. */

const accepted = [
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.v2+json',
].join(', ')

const deadlineMs = 30_000

/**
 * The digest of a tag, or of its index if it is for several platforms.
 *
 * @param repository with its registry, such as `docker.io/library/node`
 * @throws Error if the registry does not return it
 */
export async function digestOf(repository: string, tag: string): Promise<string> {
  const [host = '', ...path] = repository.split('/')
  const name = path.join('/')
  const url = `${originOf(host)}/v2/${name}/manifests/${tag}`
  const headers = { accept: accepted }
  let answer = await ask(url, headers)
  if (answer.status === 401) {
    const token = await tokenFor(answer.headers.get('www-authenticate') ?? '', name)
    answer = await ask(url, { ...headers, authorization: `Bearer ${token}` })
  }
  const digest = answer.headers.get('docker-content-digest') ?? ''
  if (!answer.ok || !/^sha256:[0-9a-f]{64}$/.test(digest))
    throw new Error(
      `${url} answered ${answer.status} with the digest '${digest}'; is the tag right?`,
    )
  return digest
}

function originOf(host: string): string {
  if (host === 'docker.io') return 'https://registry-1.docker.io'
  return host.startsWith('127.0.0.1:') ? `http://${host}` : `https://${host}`
}

const ask = (url: string, headers: Readonly<Record<string, string>>): Promise<Response> =>
  fetch(url, { method: 'HEAD', headers, signal: AbortSignal.timeout(deadlineMs) })

/** A token for pulling without a login. */
async function tokenFor(challenge: string, name: string): Promise<string> {
  const field = (key: string) => new RegExp(`${key}="([^"]*)"`).exec(challenge)?.[1]
  const realm = field('realm')
  if (realm === undefined) throw new Error(`the registry asks for a login by '${challenge}'`)
  const url = new URL(realm)
  url.searchParams.set('service', field('service') ?? '')
  url.searchParams.set('scope', `repository:${name}:pull`)
  const answer = await fetch(url, { signal: AbortSignal.timeout(deadlineMs) })
  const body = (await answer.json()) as { token?: string; access_token?: string }
  const token = body.token ?? body.access_token
  if (token === undefined)
    throw new Error(`${url.origin} answered ${answer.status} without a token`)
  return token
}
