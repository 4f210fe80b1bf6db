import type { JWTPayload } from 'jose'
import type { PublishedBy } from '../../api/v1alpha1/v1alpha1.ts'
import { printable } from '../../base/errors/errors.ts'

/** A forge, by the claims that its jobs have. */
interface Forge {
  /** The claims with the path of the repository, its ref and its commit. */
  readonly repository: string
  readonly ref: (claim: (name: string) => string | undefined) => string | undefined
  /** The address of the job's page; undefined if a claim is missing. */
  readonly runUrl: (claim: (name: string) => string | undefined, issuer: URL) => string | undefined
}

const forges: readonly Forge[] = [
  {
    // https://docs.github.com/en/actions/reference/security/oidc
    repository: 'repository',
    ref: (claim) => claim('ref'),
    runUrl(claim, issuer) {
      const [repository, run] = [pathOf(claim('repository')), numberOf(claim('run_id'))]
      if (repository === undefined || run === undefined) return undefined
      return `https://${githubHost(issuer)}/${repository}/actions/runs/${run}`
    },
  },
  {
    // https://docs.gitlab.com/ci/secrets/id_token_authentication/
    repository: 'project_path',
    ref(claim) {
      const folder = { tag: 'tags', branch: 'heads' }[claim('ref_type') ?? '']
      const ref = claim('ref')
      return ref === undefined || folder === undefined ? ref : `refs/${folder}/${ref}`
    },
    runUrl(claim, { origin, pathname }) {
      const [project, job] = [pathOf(claim('project_path')), numberOf(claim('job_id'))]
      if (project === undefined || job === undefined) return undefined
      return `${origin}${pathname.replace(/\/$/, '')}/${project}/-/jobs/${job}`
    },
  },
]

const maxBytes = 500

/** The repository and the job of a verified token, where its issuer is a forge that is known. */
export function originOf(payload: JWTPayload, issuerUrl: string): Omit<PublishedBy, 'by'> {
  const claim = (name: string): string | undefined => {
    const value = Object.hasOwn(payload, name) ? payload[name] : undefined
    if (Number.isSafeInteger(value)) return String(value)
    return typeof value === 'string' && value !== '' ? value : undefined
  }
  const forge = forges.find(({ repository }) => claim(repository) !== undefined)
  if (forge === undefined) return { issuer: issuerUrl }
  const shown = (value: string | undefined) => value && printable(value, maxBytes)
  const runUrl = forge.runUrl(claim, new URL(issuerUrl))
  const [repository, ref, commit] = [claim(forge.repository), forge.ref(claim), claim('sha')]
  return {
    issuer: issuerUrl,
    ...(repository && { repository: shown(repository) }),
    ...(ref && { ref: shown(ref) }),
    ...(commit && { commit: shown(commit) }),
    ...(runUrl?.startsWith('https:') && { runUrl }),
  }
}

/** The host of the pages of GitHub, of its enterprise cloud, or of an enterprise server. */
function githubHost({ host }: URL): string {
  return (
    /^token\.actions\.(?:githubusercontent\.com|(.+\.ghe\.com))$/.exec(host)?.[1] ??
    (host === 'token.actions.githubusercontent.com' ? 'github.com' : host)
  )
}

/** The path of a repository, if it can be part of a URL as it is. */
function pathOf(text: string | undefined): string | undefined {
  return text !== undefined &&
    /^[\w.-]+(?:\/[\w.-]+)+$/.test(text) &&
    !/(?:^|\/)\.{1,2}(?:\/|$)/.test(text) &&
    text.length <= 255
    ? text
    : undefined
}

const numberOf = (text: string | undefined): string | undefined =>
  text !== undefined && /^\d{1,20}$/.test(text) ? text : undefined
