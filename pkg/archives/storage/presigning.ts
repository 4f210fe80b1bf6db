import { type StorageConfig, secondsOf } from '../../api/v1alpha1/v1alpha1.ts'
import { RegistryError } from '../../base/errors/errors.ts'
import type { Logger } from '../../base/telemetry/telemetry.ts'
import type { Place } from './places.ts'

const defaultTtlSeconds = 900
/** The maximum of S3, Azure and Google. */
export const maxTtlSeconds = 7 * 86_400

/** Parses a Go duration such as `1h30m` into whole seconds, 1 to 604,800. */
export function ttlSecondsOf(ttl: string | undefined): number {
  if (ttl === undefined) return defaultTtlSeconds
  return Math.min(Math.max(Math.floor(secondsOf(ttl)), 1), maxTtlSeconds)
}

interface Presigning {
  readonly place: Place
  /** Limits the ttl of the storage config. */
  readonly mostTtlSeconds: number
  readonly log: Logger
  /** Measures the request to the backend. */
  readonly sign: (url: Promise<string>) => Promise<string>
}

/**
 * The URL to redirect a client to. Undefined if the server streams the archive itself: presigning is off, or it failed
 * and the fallback is allowed.
 *
 * @throws RegistryError NotConfigured if the backend cannot presign, BadGateway or GatewayTimeout if it fails
 */
export async function presignedUrl(
  { presign: config }: StorageConfig,
  { place, mostTtlSeconds, log, sign }: Presigning,
): Promise<string | undefined> {
  if (config?.enabled !== true) return undefined
  const mayFallBack = config.fallbackToProxy ?? true
  const { backend, driver, object } = place
  if (driver.presign === undefined) {
    if (mayFallBack) return undefined
    throw new RegistryError(
      'NotConfigured',
      `archives on the ${backend} backend have no pre-signed URLs: set presign.fallbackToProxy to true in their storageConfig, or presign.enabled to false`,
    )
  }
  try {
    return await sign(driver.presign(object, Math.min(ttlSecondsOf(config.ttl), mostTtlSeconds)))
  } catch (err) {
    if (!mayFallBack) throw err
    log.warn({ backend, err }, 'pre-signing failed, the archive is streamed')
    return undefined
  }
}
