import type { GetFilesResponse, Storage } from '@google-cloud/storage'
import { notFound } from '../../../base/errors/errors.ts'
import type { RemoteStore, StoreRequest } from './remote-store.ts'

export interface GcsSettings {
  /** URL of an emulator, which needs no credentials; default: Google. */
  readonly endpoint?: string | undefined
}

const googleUrl = 'https://storage.googleapis.com'

const advice =
  'check GOOGLE_APPLICATION_CREDENTIALS or the workload identity, that it is Storage Object Viewer of the bucket (Storage Object User to store archives), and for pre-signed URLs without a key file Service Account Token Creator of itself'

/** Makes stores that share one client. */
export function createGcsStores({ endpoint }: GcsSettings): (bucket: string) => RemoteStore {
  let loading: Promise<Storage> | undefined
  const client: GcsClient = {
    url: endpoint?.replace(/\/$/, '') ?? googleUrl,
    storage: () => (loading ??= load(endpoint)),
    async authorized(url, own = {}) {
      if (endpoint !== undefined) return { url, headers: own }
      const { authClient } = await client.storage()
      const headers = Object.fromEntries(await authClient.getRequestHeaders(url))
      return { url, headers: { ...own, ...headers } }
    },
  }
  return (bucket) => {
    if (!/^[a-z0-9][a-z0-9._-]{1,220}[a-z0-9]$/.test(bucket)) {
      throw notFound('there is no such archive in storage: its bucket has no valid name')
    }
    return bucketStore(client, bucket)
  }
}

interface GcsClient {
  readonly url: string
  readonly storage: () => Promise<Storage>
  authorized(url: string, own?: Record<string, string>): Promise<StoreRequest>
}

function bucketStore(client: GcsClient, bucket: string): RemoteStore {
  return {
    backend: 'gcs',
    name: bucket,
    credentialsAdvice: advice,
    async request(method, object) {
      if (method === 'DELETE') {
        const path = `/storage/v1/b/${bucket}/o/${encodeURIComponent(object)}`
        return client.authorized(client.url + path)
      }
      const path = object.split('/').map(encodeURIComponent).join('/')
      const url = `${client.url}/${bucket}/${path}`
      // Compressed objects must arrive compressed, because their digest is that of the compressed bytes.
      const raw = { 'accept-encoding': 'gzip' }
      return client.authorized(url, raw)
    },
    async presign(object, ttlSeconds) {
      const file = (await client.storage()).bucket(bucket).file(object)
      const expires = Date.now() + ttlSeconds * 1000
      const [url] = await file.getSignedUrl({ version: 'v4', action: 'read', expires })
      return url
    },
    writing: {
      method: 'POST',
      async put(object, { conditional }) {
        const query = new URLSearchParams({ uploadType: 'media', name: object })
        if (conditional) query.set('ifGenerationMatch', '0')
        const url = `${client.url}/upload/storage/v1/b/${bucket}/o?${query.toString()}`
        const type = { 'content-type': 'application/octet-stream' }
        return client.authorized(url, type)
      },
      async *list(prefix) {
        const inBucket = (await client.storage()).bucket(bucket)
        let query: object | null | undefined = { prefix, autoPaginate: false, maxResults: 1000 }
        while (query) {
          const answer: GetFilesResponse = await inBucket.getFiles(query)
          const [files, next] = answer
          yield files.map(({ name, metadata }) => ({
            object: name,
            sizeBytes: Number(metadata.size),
            changedAtMs: Date.parse(metadata.updated ?? ''),
          }))
          query = next
        }
      },
    },
  }
}

async function load(endpoint: string | undefined): Promise<Storage> {
  const { Storage: Client } = await import('@google-cloud/storage')
  return new Client(endpoint === undefined ? {} : { apiEndpoint: endpoint, projectId: 'emulator' })
}
