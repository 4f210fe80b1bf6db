import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { BlobServiceClient } from '@azure/storage-blob'
import { Client } from 'minio'
import { toolPath } from '../tools.ts'
import { startProcess } from './process.ts'

/** A real object store on this machine, for tests and benchmarks. */
export interface ObjectStore {
  readonly port: number
  /** The variables with which a server reaches it. */
  readonly env: Readonly<Record<string, string>>
  createBucket(name: string): Promise<void>
  put(bucket: string, object: string, bytes: Uint8Array): Promise<void>
  readonly stop: () => Promise<void>
}

export interface S3Store extends ObjectStore {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly endpoint: string
}

/** versitygw over a temporary folder. */
export async function startS3(region = 'eu-west-1'): Promise<S3Store> {
  const dir = mkdtempSync(join(tmpdir(), 'depot-s3-'))
  const [accessKeyId, secretAccessKey] = ['depot-test', randomBytes(12).toString('hex')]
  const server = await startProcess(
    toolPath('versitygw'),
    (port) => `--port 127.0.0.1:${port} --region ${region} posix ${dir}`,
    { ROOT_ACCESS_KEY: accessKeyId, ROOT_SECRET_KEY: secretAccessKey },
  )
  const { port } = server
  const client = new Client({
    endPoint: '127.0.0.1',
    port,
    useSSL: false,
    accessKey: accessKeyId,
    secretKey: secretAccessKey,
    region,
  })
  const endpoint = `http://127.0.0.1:${port}`
  return {
    port,
    accessKeyId,
    secretAccessKey,
    endpoint,
    env: {
      DEPOT_S3_ENDPOINT: endpoint,
      AWS_ACCESS_KEY_ID: accessKeyId,
      AWS_SECRET_ACCESS_KEY: secretAccessKey,
    },
    createBucket: (name) => client.makeBucket(name, region),
    async put(bucket, object, bytes) {
      await client.putObject(bucket, object, Buffer.from(bytes))
    },
    async stop() {
      await server.stop()
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

export interface AzureStore extends ObjectStore {
  readonly connectionString: string
  readonly accountName: string
  readonly accountUrl: string
}

/** Azurite, in memory, with an account of its own. */
export async function startAzure(): Promise<AzureStore> {
  const require = createRequire(import.meta.url)
  const main = join(dirname(require.resolve('azurite/package.json')), 'dist/src/blob/main.js')
  const [accountName, key] = ['depottest', randomBytes(32).toString('base64')]
  const server = await startProcess(
    process.execPath,
    (port) =>
      `${main} --blobHost 127.0.0.1 --blobPort ${port} --inMemoryPersistence --skipApiVersionCheck --silent`,
    { AZURITE_ACCOUNTS: `${accountName}:${key}` },
  )
  const accountUrl = `http://127.0.0.1:${server.port}/${accountName}`
  const connectionString = `DefaultEndpointsProtocol=http;AccountName=${accountName};AccountKey=${key};BlobEndpoint=${accountUrl};`
  const client = BlobServiceClient.fromConnectionString(connectionString)
  return {
    port: server.port,
    connectionString,
    accountName,
    accountUrl,
    env: { AZURE_STORAGE_CONNECTION_STRING: connectionString },
    async createBucket(name) {
      await client.getContainerClient(name).createIfNotExists()
    },
    async put(bucket, object, bytes) {
      await client.getContainerClient(bucket).getBlockBlobClient(object).uploadData(bytes)
    },
    stop: server.stop,
  }
}

export interface GcsStore extends ObjectStore {
  readonly endpoint: string
}

/** fake-gcs-server, in memory. */
export async function startGcs(): Promise<GcsStore> {
  const server = await startProcess(
    toolPath('fake-gcs-server'),
    (port) =>
      `-scheme http -host 127.0.0.1 -port ${port} -backend memory -external-url http://127.0.0.1:${port} -public-host 127.0.0.1:${port}`,
  )
  const endpoint = `http://127.0.0.1:${server.port}`
  const post = async (path: string, type: string, body: string | Uint8Array): Promise<void> => {
    const answer = await fetch(endpoint + path, {
      method: 'POST',
      headers: { 'Content-Type': type },
      body: body as string,
    })
    if (!answer.ok) throw new Error(`POST ${path}: ${answer.status} ${await answer.text()}`)
  }
  return {
    port: server.port,
    endpoint,
    env: { DEPOT_GCS_ENDPOINT: endpoint },
    createBucket: (name) =>
      post('/storage/v1/b?project=test', 'application/json', JSON.stringify({ name })),
    put: (bucket, object, bytes) =>
      post(
        `/upload/storage/v1/b/${bucket}/o?uploadType=media&name=${encodeURIComponent(object)}`,
        'application/zip',
        bytes,
      ),
    stop: server.stop,
  }
}
