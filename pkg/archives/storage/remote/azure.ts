import type { BlobServiceClient, UserDelegationKey } from '@azure/storage-blob'
import type { StorageConfig } from '../../../api/v1alpha1/v1alpha1.ts'
import { notFound } from '../../../base/errors/errors.ts'
import type { RemoteStore, StoreRequest } from './remote-store.ts'

export interface AzureSettings {
  /** Account, endpoint and key, as shown in the portal. Other accounts are reached with a token. */
  readonly connectionString?: string | undefined
}

type Account = NonNullable<StorageConfig['azureStorage']>

const scope = 'https://storage.azure.com/.default'
const apiVersion = '2023-11-03'
const ownTtlSeconds = 900
/** A key for signatures is valid longer than any of them by this much, so one key can sign many. */
const keyMarginMs = 3_600_000
const dayMs = 86_400_000

const advice =
  'check AZURE_STORAGE_CONNECTION_STRING, or the identity (AZURE_CLIENT_ID, AZURE_TENANT_ID, AZURE_FEDERATED_TOKEN_FILE or AZURE_CLIENT_SECRET) and that it is Storage Blob Data Reader (Contributor to store archives), for pre-signed URLs Storage Blob Delegator too'

/** Hosts of blob services: `{account}.blob.{cloud}`, `{account}.z01.blob.storage.azure.net` and private links. */
const hostPattern =
  /^([a-z0-9]{3,24})(?:\.z\d{2})?(?:\.privatelink)?\.blob\.(?:core\.windows\.net|core\.usgovcloudapi\.net|core\.chinacloudapi\.cn|storage\.azure\.net)$/

/** Read, write or delete. */
type Permission = 'r' | 'w' | 'd'

/** Access that all containers of an account share. */
interface AccountAccess {
  readonly service: BlobServiceClient
  /** Token for requests with unsigned URLs; absent if a key signs URLs. */
  readonly token?: () => Promise<string>
  readonly sign: (
    container: string,
    object: string,
    ttlSeconds: number,
    permission: Permission,
  ) => Promise<string>
}

/** Makes stores for containers. @throws RegistryError NotFound if the account's URL does not belong to Azure */
export function createAzureStores(
  settings: AzureSettings,
): (account: Account) => (container: string) => RemoteStore {
  const keyed = keyedAccount(settings.connectionString)

  return ({ accountName, accountUrl }) => {
    const url = accountName === keyed ? undefined : checkedUrl(accountName, accountUrl)
    const access = accountAccess(() =>
      url === undefined ? openWithKey(settings.connectionString ?? '') : openWithToken(url),
    )
    return (container) => {
      if (!/^(?!.*--)[a-z0-9$][a-z0-9-]{1,61}[a-z0-9]$/.test(container)) {
        throw notFound('there is no such archive in storage: its container has no valid name')
      }
      return containerStore(access, accountName, container)
    }
  }
}

/** Opens an account once, and again after a failure. */
function accountAccess(open: () => Promise<AccountAccess>): () => Promise<AccountAccess> {
  let loading: Promise<AccountAccess> | undefined
  return () =>
    (loading ??= open()).catch((error: unknown) => {
      loading = undefined
      throw error
    })
}

function containerStore(
  access: () => Promise<AccountAccess>,
  accountName: string,
  container: string,
): RemoteStore {
  const authorized = async (object: string, permission: Permission): Promise<StoreRequest> => {
    const { service, token, sign } = await access()
    if (token === undefined) {
      return { url: await sign(container, object, ownTtlSeconds, permission) }
    }
    const { url: plain } = service.getContainerClient(container).getBlobClient(object)
    const authorization = `Bearer ${await token()}`
    return { url: plain, headers: { authorization, 'x-ms-version': apiVersion } }
  }
  return {
    backend: 'azure',
    name: `${accountName}/${container}`,
    credentialsAdvice: advice,
    request: (method, object) => authorized(object, method === 'DELETE' ? 'd' : 'r'),
    presign: async (object, ttlSeconds) =>
      (await access()).sign(container, object, ttlSeconds, 'r'),
    writing: {
      method: 'PUT',
      async put(object, { conditional }) {
        const request = await authorized(object, 'w')
        const kind = { 'x-ms-blob-type': 'BlockBlob' }
        const condition = conditional ? { 'if-none-match': '*' } : {}
        return { ...request, headers: { ...request.headers, ...kind, ...condition } }
      },
      async *list(prefix) {
        const blobs = (await access()).service.getContainerClient(container)
        const pages = blobs.listBlobsFlat({ prefix }).byPage({ maxPageSize: 1000 })
        try {
          for await (const { segment } of pages) {
            yield segment.blobItems.map(({ name, properties }) => ({
              object: name,
              sizeBytes: properties.contentLength ?? 0,
              changedAtMs: properties.lastModified.getTime(),
            }))
          }
        } catch (error) {
          // No archive of this module or provider was stored yet.
          if ((error as { code?: unknown }).code !== 'ContainerNotFound') throw error
        }
      },
      async create() {
        await (await access()).service.getContainerClient(container).createIfNotExists()
      },
    },
  }
}

/** The server's token must not be sent to a host that a Version names. */
function checkedUrl(accountName: string, accountUrl: string): string {
  const url = URL.parse(accountUrl)
  const [, account] = hostPattern.exec(url?.hostname ?? '') ?? []
  if (url?.protocol === 'https:' && url.port === '' && account === accountName) return url.origin
  throw notFound(
    'there is no such archive in storage: accountUrl is not the blob service of accountName',
  )
}

const keyedAccount = (connectionString = ''): string | undefined =>
  connectionString.includes('UseDevelopmentStorage=true')
    ? 'devstoreaccount1'
    : /(?:^|;)\s*AccountName=([^;]+)/i.exec(connectionString)?.[1]?.trim()

async function openWithKey(connectionString: string): Promise<AccountAccess> {
  const azure = await import('@azure/storage-blob')
  const service = azure.BlobServiceClient.fromConnectionString(connectionString)
  return {
    service,
    sign: (container, object, ttlSeconds, permission) =>
      service
        .getContainerClient(container)
        .getBlobClient(object)
        .generateSasUrl({
          permissions: azure.BlobSASPermissions.parse(permission),
          expiresOn: new Date(Date.now() + ttlSeconds * 1000),
        }),
  }
}

async function openWithToken(url: string): Promise<AccountAccess> {
  const [azure, { DefaultAzureCredential }] = await Promise.all([
    import('@azure/storage-blob'),
    import('@azure/identity'),
  ])
  const credential = new DefaultAzureCredential()
  const service = new azure.BlobServiceClient(url, credential)
  const delegationKey = rememberKey((start, end) => service.getUserDelegationKey(start, end))
  return {
    service,
    token: async () => (await credential.getToken(scope)).token,
    async sign(container, object, ttlSeconds, permission) {
      const expiresOn = new Date(Date.now() + ttlSeconds * 1000)
      const permissions = azure.BlobSASPermissions.parse(permission)
      const blob = service.getContainerClient(container).getBlobClient(object)
      return blob.generateUserDelegationSasUrl(
        { permissions, expiresOn },
        await delegationKey(expiresOn),
      )
    },
  }
}

/** Fetches a delegation key and uses it until it expires. Azure limits keys to seven days. */
function rememberKey(fetch: (start: Date, end: Date) => Promise<UserDelegationKey>) {
  let key: Promise<UserDelegationKey> | undefined
  let endsAtMs = 0
  return (until: Date): Promise<UserDelegationKey> => {
    if (key !== undefined && until.getTime() <= endsAtMs) return key
    const nowMs = Date.now()
    endsAtMs = Math.min(until.getTime() + keyMarginMs, nowMs + 7 * dayMs - 60_000)
    // Clocks differ: a key that is valid from now on is not yet valid for a slow clock.
    const fetched = fetch(new Date(nowMs - 300_000), new Date(endsAtMs))
    key = fetched
    fetched.catch(() => {
      if (key === fetched) key = undefined
    })
    return fetched
  }
}
