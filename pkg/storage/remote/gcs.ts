import type { Storage } from '@google-cloud/storage'
import { notFound } from '../../errors/errors.ts'
import type { RemoteStore } from './remote-store.ts'

export interface GcsSettings {
  /** URL of an emulator, which is asked without credentials; default: Google. */
  readonly endpoint?: string | undefined
}

const googleUrl = 'https://storage.googleapis.com'

const advice =
  'check GOOGLE_APPLICATION_CREDENTIALS or the workload identity, that it is Storage Object Viewer of the bucket, and for pre-signed URLs without a key file Service Account Token Creator of itself'

/** Makes stores that share one client. */
export function createGcsStores(settings: GcsSettings): (bucket: string) => RemoteStore {
  const { endpoint } = settings
  let loading: Promise<Storage> | undefined
  const storage = () => (loading ??= load(endpoint))

  return (bucket) => {
    if (!/^[a-z0-9][a-z0-9._-]{1,220}[a-z0-9]$/.test(bucket)) {
      throw notFound('there is no such archive in storage: its bucket has no valid name')
    }
    return {
      backend: 'gcs',
      name: bucket,
      credentialsAdvice: advice,
      async request(_, object) {
        const path = object.split('/').map(encodeURIComponent).join('/')
        const url = `${endpoint?.replace(/\/$/, '') ?? googleUrl}/${bucket}/${path}`
        // Objects that are stored compressed must come as they are: their digest is that of the compressed bytes.
        const raw = { 'accept-encoding': 'gzip' }
        if (endpoint !== undefined) return { url, headers: raw }
        const { authClient } = await storage()
        const headers = Object.fromEntries(await authClient.getRequestHeaders(url))
        return { url, headers: { ...raw, ...headers } }
      },
      async presign(object, ttlSeconds) {
        const file = (await storage()).bucket(bucket).file(object)
        const expires = Date.now() + ttlSeconds * 1000
        const [url] = await file.getSignedUrl({ version: 'v4', action: 'read', expires })
        return url
      },
    }
  }
}

async function load(endpoint: string | undefined): Promise<Storage> {
  const { Storage: Client } = await import('@google-cloud/storage')
  return new Client(endpoint === undefined ? {} : { apiEndpoint: endpoint, projectId: 'emulator' })
}
