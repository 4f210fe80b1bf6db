import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { messageOf } from '../../pkg/base/errors/errors.ts'
import {
  type ExplorerCommandOptions,
  type ExplorerSecrets,
  OptionsError,
} from '../../pkg/base/options/options.ts'
import type { ExplorerOptions } from '../../pkg/explorer/explorer.ts'

export interface Given {
  readonly options: ExplorerCommandOptions
  readonly secrets: ExplorerSecrets
}

type Settings = Omit<ExplorerOptions, 'version' | 'log' | 'metrics' | 'serverCa'>

const leastPassword = 32
/** The folder of the pages that `make ui` builds. */
const builtHere = join(import.meta.dirname, '../../pkg/explorer/dist')

/**
 * Settings of the explorer, with the content of the files that the options name.
 *
 * @throws OptionsError naming everything that is missing
 */
export function settingsOf({ options, secrets }: Given): Settings {
  const problems: string[] = []
  const read = (flag: string, path: string | undefined, fallback?: string) => {
    if (path === undefined) return fallback
    if (fallback !== undefined) {
      problems.push(`--${flag} and its variable are both set: keep one of them`)
      return undefined
    }
    try {
      return readFileSync(path, 'utf8').trim()
    } catch (error) {
      problems.push(`--${flag} cannot be read: ${messageOf(error)}`)
      return undefined
    }
  }
  const { oidcIssuerUrl: issuerUrl, oidcClientId: clientId, devTokenInput } = options
  const clientSecret = read(
    'oidc-client-secret-path',
    options.oidcClientSecretPath,
    secrets.oidcClientSecret,
  )
  const passwords = read(
    'session-password-path',
    options.sessionPasswordPath,
    secrets.sessionPassword,
  )
  const sessionPasswords = linesOf(passwords)
  problems.push(...weakPasswords(sessionPasswords))
  if (sessionPasswords.length === 0 && (issuerUrl !== undefined || devTokenInput)) {
    const needing = devTokenInput ? '--dev-token-input' : '--oidc-issuer-url'
    problems.push(
      `${needing} needs --session-password-path (or DEPOT_SESSION_PASSWORD): set a password of ${leastPassword} characters or more`,
    )
  }
  if (problems.length > 0) throw new OptionsError(problems)
  return {
    serverUrl: options.serverUrl,
    brokerUrl: options.brokerUrl,
    baseUrl: options.baseUrl,
    trustProxy: options.trustProxy,
    sessionPasswords,
    sessionTtlMs: options.sessionTtlMs,
    devTokenInput,
    dist: options.distPath ?? builtHere,
    ...(issuerUrl !== undefined &&
      clientId !== undefined && {
        oidc: {
          issuerUrl,
          clientId,
          clientSecret,
          authzUrl: options.oidcAuthzUrl,
          scopes: options.oidcScopes,
          callbackPath: options.oidcCallbackPath,
        },
      }),
  }
}

function linesOf(text: string | undefined): string[] {
  return (text ?? '')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
}

function weakPasswords(passwords: readonly string[]): string[] {
  return passwords.flatMap((password, index) =>
    password.length >= leastPassword
      ? []
      : [
          `--session-password-path (or DEPOT_SESSION_PASSWORD): line ${index + 1} has ${password.length} characters: write ${leastPassword} or more, such as the output of openssl rand -base64 32`,
        ],
  )
}
